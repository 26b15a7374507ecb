// JSON Schema in words: the type of a value, and the fields of an object as a nested list.

import { count, h, shown } from "./dom.js";
import { own } from "./state.js";

const DEEP = 6; // objects within objects that are shown

/** Text in which what stands between backticks is code. */
export const prose = (text) => shown(text).split(/(``?[^`]+``?)/).map((part) =>
  (/^`.+`$/.test(part) ? h("code", part.replaceAll("`", "")) : part));

/** Reads schemas whose references lead to `schemas`. */
export class Shapes {
  constructor(schemas) {
    this.schemas = schemas;
  }

  resolved(schema) {
    const name = schema?.$ref?.split("/").pop();
    return name === undefined ? schema ?? {} : { ...own(this.schemas, name), ...schema, $ref: undefined };
  }

  /** A type in words: `list of string`, `number from 0 to 1`, `string or null`. */
  type(given) {
    const schema = this.resolved(given);
    if (schema.anyOf) return schema.anyOf.map((part) => this.type(part)).join(" or ");
    if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" or ");
    if (schema.const !== undefined) return JSON.stringify(schema.const);
    if (schema.type === "array" && schema.prefixItems) return `list of ${schema.prefixItems.length}`;
    if (schema.type === "array") return `list of ${this.type(schema.items)}${between(schema.minItems, schema.maxItems, " items")}`;
    if (schema.type === "object" && schema.additionalProperties?.type) {
      return `object of ${this.type(schema.additionalProperties)}`;
    }
    const name = schema.format === "binary" ? "file" : schema.type ?? "any value";
    return name + bounds(schema);
  }

  /** The object that a value is, or that its items are; null for plain values. */
  object(given) {
    const schema = this.resolved(given);
    if (schema.properties) return schema;
    const parts = [schema.items, schema.additionalProperties, ...(schema.anyOf ?? [])];
    return parts.filter((part) => part && typeof part === "object").map((part) => this.object(part)).find(Boolean) ?? null;
  }

  /** The description of a value, if there is one: of it, or of one that it may be. */
  about(given) {
    const schema = this.resolved(given);
    return schema.description ?? schema.anyOf?.map((part) => this.about(part)).find(Boolean);
  }

  /**
   * The fields of a value as a list, each with its type and what it means; null if it has none. `words` are
   * said of fields that must be there, and of those that need not.
   */
  fields(given, words, depth = 1) {
    const object = this.object(given);
    if (object === null || depth > DEEP) return null;
    const required = object.required ?? [];
    const rank = ([name]) => (required.includes(name) ? 0 : 1);
    const properties = Object.entries(object.properties).sort((a, b) => rank(a) - rank(b));
    return h("ul.fields", properties.map(([name, given]) => {
      const about = this.object(given) ? this.resolved(given).description : this.about(given);
      const is = required.includes(name) ? words[0] : words[1] + this.usual(given);
      return h("li", h("code", shown(name)), " ", h("span.soft", shown(this.type(given) + is)),
        about ? [" ", prose(about)] : null, this.fields(given, words, depth + 1));
    }));
  }

  usual(given) {
    const value = this.resolved(given).default;
    return value === undefined || value === null ? "" : `, default ${JSON.stringify(value)}`;
  }
}

function bounds({ exclusiveMinimum, minimum, maximum, minLength, maxLength }) {
  const above = exclusiveMinimum === undefined ? "" : `, above ${count(exclusiveMinimum)}`;
  return above + between(minimum, maximum, "") + between(minLength, maxLength, " characters");
}

function between(least, most, unit) {
  if (least === undefined) return most === undefined ? "" : `, at most ${count(most)}${unit}`;
  return most === undefined ? `, at least ${count(least)}${unit}` : `, ${count(least)} to ${count(most)}${unit}`;
}
