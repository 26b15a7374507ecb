// Choosing a class: buttons for a few, a filter for many, and a new one if that is wanted.

import { folded, h, said } from "./dom.js";
import { swatch } from "./examples.js";

const MOST = 9;

/** `onpick(label, isNew)`; with `keys` the buttons show the digits that press them. */
export class Picker {
  #labels = [];
  #shown = [];
  #buttons = h("div.row");
  #filter;

  constructor(id, name, onpick, keys = false) {
    Object.assign(this, { onpick, keys });
    this.#filter = h("input", {
      type: "search", autocomplete: "off", "aria-label": "Find a class",
      placeholder: `Type to find a class${keys ? " ( / )" : ""}`,
      oninput: () => this.#draw(),
      onkeydown: (event) => {
        if (event.key === "Escape") this.node.closest("[tabindex]").focus();
        if (event.key !== "Enter" || !this.#filter.value) return;
        event.preventDefault();
        this.press(1);
      },
    });
    const field = h("input", { id: `${id}-new`, autocomplete: "off", maxlength: "1000", required: true });
    const add = (event) => {
      event.preventDefault();
      const given = field.value.trim();
      if (given) this.onpick(given, !this.#labels.includes(given));
      field.value = "";
    };
    const form = h("form.row", { onsubmit: add }, h("label", { for: field.id }, "Its name"), field,
      h("button", { type: "submit" }, "Add it and learn"));
    this.node = h("div.picker", { role: "group", "aria-label": name }, this.#filter, this.#buttons,
      folded("A new class…", form));
  }

  /** The classes to choose from, the likeliest first. */
  set(labels) {
    this.#labels = labels;
    this.#filter.hidden = labels.length <= MOST;
    this.#filter.value = "";
    this.node.querySelector("details").open = false;
    this.#draw();
  }

  focus() {
    this.node.querySelector("input:not([hidden], form *), button")?.focus();
  }

  /** Presses the nth button that is shown, from 1. */
  press(n) {
    if (n <= this.#shown.length) this.onpick(this.#shown[n - 1], false);
  }

  #draw() {
    const sought = this.#filter.value.trim().toLowerCase();
    const found = this.#labels.filter((label) => label.toLowerCase().includes(sought));
    found.sort((a, b) => b.toLowerCase().startsWith(sought) - a.toLowerCase().startsWith(sought));
    this.#shown = found.slice(0, MOST);
    this.#buttons.replaceChildren(...this.#shown.map((label, i) =>
      h("button", { type: "button", "data-label": label, onclick: () => this.onpick(label, false) },
        this.keys ? h("kbd", { "aria-hidden": "true" }, String(i + 1)) : null, swatch(label), said(label))));
    if (!found.length) this.#buttons.append(h("span.soft", "No such class."));
  }
}
