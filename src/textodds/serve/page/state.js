// What every part of the page knows: the model's card, and when it has changed.

export const state = { card: null, version: "" };

const bus = new EventTarget();

export const on = (name, f) => bus.addEventListener(name, (event) => f(event.detail));
export const emit = (name, detail) => bus.dispatchEvent(new CustomEvent(name, { detail }));

/** Notes the version an answer has come from; an answer on its way may be older, and says nothing new. */
export function noticed(version) {
  if (!version || version === state.version) return;
  const [file, change] = parts(version);
  const [knownFile, knownChange] = parts(state.version);
  if (file === knownFile && change < knownChange) return;
  const first = !state.version;
  state.version = version;
  if (!first) emit("changed", version);
}

function parts(version) {
  const dot = version.lastIndexOf(".");
  const [change, mark] = version.slice(dot + 1).split("~");
  return [version.slice(0, dot), Number(change) + (mark === undefined ? 0.5 : 0)]; // solved is newer
}

/** What an object has by a name, not what every object has. */
export const own = (object, name) => (Object.hasOwn(object, name) ? object[name] : undefined);

/** Names of the classes, the likeliest first, by probabilities. */
export const likeliest = (p) => labels().sort((a, b) => (own(p, b) ?? 0) - (own(p, a) ?? 0));

/** Names of the classes, in the model's order. */
export const labels = () => state.card.classes.map((each) => each.label);

/** The class by which style.css colours a class: of two each has its own; of more none has. */
export function toneOf(label) {
  if (isOfLabels() || labels().length !== 2) return null;
  return { [labels()[0]]: "one", [labels()[1]]: "two" }[label] ?? null;
}

/** How evidence for a label, and for its rival, is drawn: of two classes each has its own colour. */
export const tonesOf = (label, rival) => (toneOf(label) && toneOf(rival) ? [toneOf(label), toneOf(rival)] : ["for", "against"]);

/** Whether the model reads rows, columns by name, rather than one text. */
export const isOfRows = () => Boolean(state.card.columns);

/** Whether a text may have several labels, or none. */
export const isOfLabels = () => Boolean(state.card.several_labels);

/** A row as one string, columns in the model's order, so that two can be compared; `given` takes it. */
export function asAsked(row) {
  const names = state.card.columns.map(({ name }) => name).filter((name) => (own(row, name) ?? null) !== null);
  return JSON.stringify(Object.fromEntries(names.map((name) => [name, row[name]])));
}

/** What is asked about, as the service takes it. */
export const given = (asked) => (isOfRows() ? { row: JSON.parse(asked) } : { text: asked });

/** A new name for a document. `randomUUID` is missing where the page is not served securely. */
export function freshId() {
  if (crypto.randomUUID) return crypto.randomUUID();
  const random = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(random, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
