// A correction that counts as several: how many are needed, and the ids by which they are learned and forgotten.

import { post } from "./api.js";
import { button, h, plural, soft } from "./dom.js";
import { given } from "./state.js";

const MOST = 200; // copies that are offered

/** The ids of n copies beside the first document: each says how many there are, so that all are found again. */
export const copyIds = (id, n) => Array.from({ length: n - 1 }, (_, i) => `${id}~${i + 2}/${n}`);

/** The id of the first document, and how many copies there are by the id of one. */
export function copyOf(id) {
  const [, first, n] = id.match(/^(.+)~\d+\/(\d+)$/) ?? [null, id, "1"];
  return { first, n: Number(n) };
}

/** All ids of a correction, given how often it counts. */
export const allIds = (first, n) => [first, ...copyIds(first, n)];

/** One entry for each correction, with `n`, how often it counts; the latest first. */
export function together(entries) {
  const weights = new Map();
  for (const { id } of entries) {
    const { first, n } = copyOf(id);
    weights.set(first, Math.max(n, weights.get(first) ?? 1));
  }
  return entries.filter(({ id }) => copyOf(id).n === 1).map((entry) => ({ ...entry, n: weights.get(entry.id) }));
}

/** Says what would change the model's mind, and offers to count the correction so often; `learn(n)` does. */
export function offerWeight(text, label, learn) {
  const box = h("div.weight", soft("The probability moved, but not enough. Finding out what would …"));
  post("v1/learn/copies", { ...given(text), label }).then(({ copies, most }) => {
    if (copies === 0) return box.replaceChildren();
    if (copies === null || copies >= MOST) {
      return box.replaceChildren(soft(`The probability moved, but not enough. More than ${copies ?? most} such texts would be needed: `,
        "what the model has learned is against it."));
    }
    const n = copies + 1;
    box.replaceChildren(soft(`About ${plural(copies, "more such text")} would change its mind.`),
      button(["Count it ", h("b", `${n} times`)], () => learn(n), { title: `Learn ${plural(copies, "copy", "copies")} more, as if the text had come so often` }));
  }, () => box.replaceChildren(soft("The probability moved, but one correction is little against all training texts.")));
  return box;
}
