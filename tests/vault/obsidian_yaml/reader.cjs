// Reads YAML as Obsidian does. A line in: a JSON list of texts. A line out: for each of them null
// where it is not valid, else what it means, with the types told, and where each property stands:
// the bytes at which its name begins and its value ends.
const { createInterface } = require("node:readline");
const { isMap, isNode, parseDocument } = require("yaml");

const told = (value, around = []) => {
  if (value === null || value === undefined) return ["null"];
  if (typeof value === "bigint") return ["int", String(value)];
  if (typeof value === "number") return ["float", String(value)];
  if (typeof value === "boolean") return ["bool", value];
  if (typeof value === "string") return ["text", value];
  if (around.includes(value)) return ["itself"];
  const inside = (inner) => told(inner, [...around, value]);
  if (Array.isArray(value)) return ["list", value.map(inside)];
  if (value instanceof Map) {
    return ["map", [...value].map(([key, inner]) => [inside(key), inside(inner)])];
  }
  return ["other", String(value)];
};

const places = (document, text) => {
  if (!isMap(document.contents)) return [];
  const bytes = (index) => Buffer.byteLength(text.slice(0, index));
  return document.contents.items.map(({ key, value }) => {
    const end = isNode(value) ? value.range[1] : key.range[1];
    return [String(key), bytes(key.range[0]), bytes(Math.max(end, key.range[1]))];
  });
};

const read = (text) => {
  const document = parseDocument(text, { intAsBigInt: true });
  if (document.errors.length > 0) return null;
  try {
    return { value: told(document.toJS({ mapAsMap: true })), places: places(document, text) };
  } catch (error) {
    if (error instanceof ReferenceError) return null; // more aliases than it resolves
    throw error;
  }
};

createInterface({ input: process.stdin }).on("line", (line) => {
  process.stdout.write(JSON.stringify(JSON.parse(line).map(read)) + "\n");
});
