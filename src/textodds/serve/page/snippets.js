// A request as people paste it elsewhere: for a shell, and in Python.

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** As a line for a shell; `sent` is text, or a file. */
export function inShell({ address, method, type, body: sent }, hasToken) {
  const parts = ["curl", quoted(address.href)];
  if (method === "POST" && type === undefined) parts.push("-X POST");
  if (hasToken) parts.push('-H "Authorization: Bearer $TOKEN"');
  if (type) parts.push("-H", quoted(`Content-Type: ${type}`));
  if (sent instanceof File) parts.push("--data-binary", quoted(`@${sent.name}`));
  else if (sent !== undefined) parts.push("--data-binary", quoted(sent));
  return parts.join(" ");
}

/** As Python without any package; the same object is written alike in JSON and in Python, but for null. */
export function inPython({ address, asked }, hasToken) {
  const token = hasToken ? ', "Authorization": f"Bearer {os.environ[\'TOKEN\']}"' : "";
  return `import json
${hasToken ? "import os\n" : ""}from urllib.request import Request, urlopen

asked = ${JSON.stringify(asked)}
headers = {"Content-Type": "application/json"${token}}
with urlopen(Request(${JSON.stringify(address.href)}, json.dumps(asked).encode(), headers)) as answer:
    print(json.load(answer))
`;
}
