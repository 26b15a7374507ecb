// The API as the service describes it: every endpoint with its shapes, and a form that asks it.

import { raw } from "./api.js";
import { $, bytes, folded, h, plural, shown, soft, table, told } from "./dom.js";
import { prose, Shapes } from "./shapes.js";
import { inShell } from "./snippets.js";

const MOST = 200_000; // characters of an answer that are shown
const ASKED = [", required", ""];
const ANSWERED = ["", ", not always there"];
const CHANGES = {
  write: "This changes what the model has learned.",
  admin: "Report this to the operator of the service.",
};

let shapes = new Shapes({});

/** The address of a path, wherever the service is. */
const addressOf = (path) => new URL(`./${path.slice(1)}`, location.href);

const idOf = (method, path) => `${method}${path.replace(/[^a-z0-9]+/gi, "-")}`.replace(/-$/, "");

function link(method, path, operation) {
  const id = idOf(method, path);
  const open = () => ($(id).open = true);
  return h("li", h("a", { href: `#${id}`, onclick: open, title: operation.summary },
    h("span.method", `${method.toUpperCase()} `), h("code", path)));
}

function endpoint(method, path, operation, hasTokens) {
  const id = idOf(method, path);
  const content = operation.requestBody?.content ?? {};
  const { responses } = operation;
  return h("details.card.endpoint", { id, "aria-labelledby": `${id}-h` },
    h("summary", h("h2", { id: `${id}-h` }, h("span.method", `${method.toUpperCase()} `), h("code", path)),
      h("span.soft", `${shown(operation.summary)}.${needs(operation["x-needs"], hasTokens)}`)),
    h("div.body", parameters(operation.parameters), request(content), answer(responses["200"]), refusals(responses),
      form(id, method, path, operation, content)));
}

const needs = (scope, hasTokens) =>
  (hasTokens && scope && scope !== "nothing" ? ` Needs a token of the scope ${scope}.` : "");

function parameters(given) {
  if (!given?.length) return null;
  const rows = given.map(({ name, in: where, required, schema, description }) => [h("code", shown(name)), where,
    shapes.type(schema) + (required ? ", required" : shapes.usual(schema)), description ? h("span", prose(description)) : ""]);
  return [h("h3", "Parameters"), table("Parameters", ["Name", "In", "Type", "Meaning"], rows)];
}

/** The media type that is shown: the first that has an example, if any has. */
const shownOf = (content) => Object.keys(content).find((name) => content[name].example !== undefined) ?? Object.keys(content)[0];

function request(content) {
  const media = Object.keys(content);
  if (!media.length) return null;
  const first = shownOf(content);
  const { schema, example } = content[first];
  const about = shapes.resolved(schema).description;
  return [h("h3", "Request"), soft(media.map((name, i) => [i ? ", " : "", h("code", name)])),
    about ? h("p", prose(about)) : null, shapes.fields(schema, ASKED), ...(example === undefined ? []
      : [h("h4.small", "Example"), h("pre", { tabindex: "0", "aria-label": "Example of a request" }, written(example))])];
}

function answer({ description, content }) {
  const [[media, { schema }]] = Object.entries(content);
  return [h("h3", "Answer"), soft(h("code", media)), description ? h("p", prose(description)) : null, shapes.fields(schema, ANSWERED)];
}

function refusals(responses) {
  const refused = Object.entries(responses).filter(([status]) => status !== "200");
  const [[media, { schema }]] = Object.entries(refusal(refused[0][1]).content);
  return folded("Refusals", soft("As ", h("code", media), ":"),
    table("Refusals", ["Status", "When"], refused.map(([status, response]) => [status, shown(refusal(response).description)])),
    shapes.fields(schema, ANSWERED));
}

let described = {};
const refusal = (response) => described[response.$ref.split("/").pop()];

const written = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 2));

/** Fields for all that can be sent, a button, and a place for the answer. */
function form(id, method, path, operation, content) {
  const inputs = (operation.parameters ?? []).map((parameter) => ({ parameter,
    input: h("input", { id: `${id}-${parameter.name}`, required: parameter.required, placeholder: parameter.schema.default, autocomplete: "off", spellcheck: "false" }) }));
  const sent = body(id, content);
  const outcome = h("div.answered", { role: "status" });
  const curl = h("pre", { tabindex: "0", "aria-label": "The same with curl" });
  const asked = () => {
    const address = addressOf(inputs.filter(({ parameter }) => parameter.in === "path")
      .reduce((made, { parameter, input }) => made.replace(`{${parameter.name}}`, encodeURIComponent(input.value)), path));
    for (const { parameter, input } of inputs) {
      if (parameter.in === "query" && input.value) address.searchParams.set(parameter.name, input.value);
    }
    return { address, method: method.toUpperCase(), ...sent.value() };
  };
  const show = () => (curl.textContent = shown(inShell(asked(), operation.security)));
  const go = async (event) => {
    event.preventDefault();
    const send = event.submitter ?? node.querySelector("button");
    send.disabled = true;
    outcome.replaceChildren(soft("…"));
    outcome.replaceChildren(...(await answered(asked())));
    send.disabled = false;
    send.focus();
  };
  const note = CHANGES[operation["x-needs"]];
  const node = h("form.try", { onsubmit: go, oninput: show, "aria-label": `Try ${method.toUpperCase()} ${path}` },
    h("h3", "Try it"), note ? h("p.note", note) : null,
    inputs.map(({ parameter, input }) => h("div.field", h("label", { for: input.id }, shown(parameter.name)), input)),
    sent.nodes, h("button.main", { type: "submit" }, "Send"), outcome, folded("The same with curl", curl));
  show();
  return node;
}

/** The fields for the body of a request, and what is in them. */
function body(id, content) {
  const media = Object.keys(content);
  if (!media.length) return { nodes: [], value: () => ({}) };
  const first = shownOf(content);
  const text = h("textarea", { id: `${id}-body`, rows: 6, spellcheck: "false", autocomplete: "off", dir: "auto" });
  text.value = written(content[first].example ?? {});
  const nodes = [h("div.field", h("label", { for: text.id }, "Body"), text)];
  if (media.length === 1) return { nodes, value: () => ({ type: first, body: text.value }) };
  const kind = h("select", { id: `${id}-type` }, media.map((name) => h("option", { value: name, selected: name === first }, name)));
  const file = h("input", { id: `${id}-file`, type: "file" });
  nodes.unshift(h("div.field", h("label", { for: kind.id }, "Type"), kind));
  nodes.push(h("div.field", h("label", { for: file.id }, "Or a file"), file));
  return { nodes, value: () => ({ type: kind.value, body: file.files[0] ?? text.value }) };
}

/** What the service answers, as elements. */
async function answered({ address, ...asked }) {
  const start = performance.now();
  try {
    const response = await raw(address, asked);
    const content = await response.blob();
    const type = response.headers.get("Content-Type")?.split(";")[0] ?? "";
    const took = plural(Math.round(performance.now() - start), "millisecond");
    const line = h("p", { class: response.ok ? "" : "error" },
      h("b", `${response.status} ${response.statusText}`.trim()), ` · ${shown(type)} · ${bytes(content.size)} · ${took}`);
    if (!/json|^text\//.test(type)) return [line, soft("The answer is a file, which curl would save with ", h("code", "-o FILE"), ".")];
    const text = await content.text();
    const rest = text.length > MOST ? soft(`The first ${plural(MOST, "character")} of it.`) : "";
    return [line, h("pre", { tabindex: "0", "aria-label": "Answer", dir: "auto" }, shown(pretty(text, type).slice(0, MOST))), rest];
  } catch (error) {
    return [told(error.name === "TypeError" ? new Error("The service does not answer.") : error)];
  }
}

function pretty(text, type) {
  try {
    return type.includes("json") ? JSON.stringify(JSON.parse(text), null, 2) : text;
  } catch {
    return text;
  }
}

/** Unfolds the endpoint that the address names. */
function reveal() {
  const named = $(location.hash.slice(1));
  if (!named?.matches?.(".endpoint")) return;
  named.open = true;
  named.scrollIntoView();
  named.querySelector("summary").focus();
}

async function start() {
  let api;
  try {
    const response = await fetch("openapi.json", { cache: "no-store" });
    if (!response.ok) throw new Error(`The service has answered with status ${response.status}.`);
    api = await response.json();
  } catch (error) {
    $("status").replaceChildren(told(error.name === "TypeError" ? new Error("The service does not answer.") : error));
    return;
  }
  shapes = new Shapes(api.components.schemas);
  described = api.components.responses;
  const hasTokens = Boolean(api.components.securitySchemes);
  $("about").textContent = `${api.info.title} ${api.info.version} · OpenAPI ${api.openapi}`;
  $("tokens").textContent = hasTokens ? "Requests need a token; you are asked for it when you send one." : "";
  const all = Object.entries(api.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => [method, path, operation]));
  $("contents-list").append(...all.map((each) => link(...each)));
  $("endpoints").append(...all.map((each) => endpoint(...each, hasTokens)));
  $("contents").hidden = false;
  $("endpoints").firstElementChild.open = true;
  addEventListener("hashchange", reveal);
  reveal();
}

document.querySelector(".skip").onclick = (event) => {
  event.preventDefault();
  $("main").focus();
};
start();
