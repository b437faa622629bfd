export type Call = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** From `/v1` on, with its query. */
  readonly path: string;
  readonly body?: unknown;
  /** A file that goes as it is, in place of a body. */
  readonly file?: { readonly name: string; readonly type: string };
  /** Headers besides those that every call has: what a write is based on. */
  readonly headers?: Readonly<Record<string, string>>;
};

/** A word of a shell, quoted where it has to be. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** The same call for a shell, with the token in a variable, so that it can be passed on. */
export function curlWords({ method, path, body, file, headers = {} }: Call, origin: string): string {
  const words = ['curl', ...(method === 'GET' ? [] : ['-X', method]), quoted(`${origin}${path}`)];
  const lines = [words.join(' '), `  -H "Authorization: Bearer $CARILLON_TOKEN"`];
  lines.push(...Object.entries(headers).map(([name, value]) => `  -H ${quoted(`${name}: ${value}`)}`));
  if (body !== undefined) lines.push(`  -H 'Content-Type: application/json'`, `  -d ${quoted(JSON.stringify(body))}`);
  if (file) lines.push(`  -H 'Content-Type: ${file.type}'`, `  --data-binary @${quoted(file.name)}`);
  return lines.join(' \\\n');
}
