/** Keys from the whole of a body to one value of it. */
export type Path = readonly string[];

/** One value of a body, as a form asks for it. */
export type Part = {
  readonly path: Path;
  readonly label: string;
  readonly note?: string;
  readonly placeholder?: string;
  /** `secret`: the name of a secret, whose value the form can set. `list`: texts, one a line. */
  readonly kind: 'text' | 'number' | 'secret' | 'choice' | 'list' | 'yes';
  readonly options?: readonly { readonly id: string; readonly name: string }[];
  /** Stands behind "More settings": most leave it as it is. */
  readonly isRare?: boolean;
  /** The value of the secret is ours to make, and the other side is told. */
  readonly isOurs?: boolean;
  /** The value of the secret has several lines. */
  readonly isLong?: boolean;
  /** What the name of the secret ends with, such as KEY of CRM_KEY. */
  readonly ending?: string;
};

type Loose = Readonly<Record<string, unknown>>;
const group = (value: unknown): Loose =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Loose) : {};

/** The value at a path; undefined: there is none. */
export const valueAt = (body: unknown, path: Path): unknown =>
  path.reduce<unknown>((value, key) => group(value)[key], body);

/** The same body with another value at a path. `undefined` takes it away, and groups that it leaves empty. */
export function withValue(body: unknown, path: Path, value: unknown): Loose {
  const [key, ...rest] = path;
  const own = group(body);
  if (key === undefined) return own;
  const next = rest.length === 0 ? value : withValue(own[key], rest, value);
  const isGone = next === undefined || (rest.length > 0 && Object.keys(group(next)).length === 0);
  if (!isGone) return { ...own, [key]: next };
  return Object.fromEntries(Object.entries(own).filter(([other]) => other !== key));
}

/** What stands in the field of a part. */
export function textAt(body: unknown, { path, kind }: Part): string {
  const value = valueAt(body, kind === 'secret' ? [...path, 'secret'] : path);
  if (Array.isArray(value)) return value.map(String).join('\n');
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}

/** The body once a text was typed into the field of a part. What is empty is left out, so that the default counts. */
export function withText(body: unknown, { path, kind }: Part, text: string): Loose {
  const trimmed = text.trim();
  if (trimmed === '') return withValue(body, path, undefined);
  if (kind === 'secret') return withValue(body, path, { secret: trimmed });
  if (kind === 'yes') return withValue(body, path, trimmed === 'true' ? true : undefined);
  // What is no number stays as it was typed: the check says so where it stands.
  if (kind === 'number') return withValue(body, path, /^-?\d+(?:\.\d+)?$/.test(trimmed) ? Number(trimmed) : trimmed);
  if (kind === 'list')
    return withValue(
      body,
      path,
      text
        .split('\n')
        .map((one) => one.trim())
        .filter((one) => one !== ''),
    );
  return withValue(body, path, text);
}

/** A name for a secret of a resource: SMTP_MAIN_PASSWORD of `smtp-main`. */
export const secretNameOf = (name: string, ending: string): string =>
  `${name
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, '_')
    .replace(/^[^A-Z]+/, '')}_${ending}`
    .replace(/^_/, '')
    .slice(0, 64);

/** What a name may be: it stands in addresses and file names. */
export const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** Why a name cannot be taken; null: it can. */
export function nameFault(name: string, taken: readonly string[]): string | null {
  if (name === '') return null;
  if (!NAME.test(name)) return 'Small letters, digits and hyphens, such as main-mail.';
  return taken.includes(name) ? 'This name is already in use.' : null;
}
