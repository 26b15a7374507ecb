// What the service's page can do and a page by itself cannot: correct the model, read rows of tables, and share.

export const startCorrections = () => {};
export const offerCorrection = () => {};
export const listCorrections = () => {};
export const movement = () => "";
export const startRow = () => {};
export const fillRow = () => {};
export const startSharing = () => {};
export const shareOf = () => {};
