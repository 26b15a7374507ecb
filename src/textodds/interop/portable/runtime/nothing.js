// What the service's page can do and a page by itself cannot: correct the model, and read rows of tables.

export const startCorrections = () => {};
export const offerCorrection = () => {};
export const listCorrections = () => {};
export const movement = () => "";
export const startRow = () => {};
