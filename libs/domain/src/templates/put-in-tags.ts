/** A tag that stands for another text: `{{> footer}}`, or `{{{body}}}` of a layout. Offsets are of its source. */
export type PutInTag = {
  readonly start: number;
  readonly end: number;
  readonly kind: 'partial' | 'body';
  /** Name of the partial; empty for the body. */
  readonly name: string;
  /** Blanks before it and after it go, as `~` says. */
  readonly stripBefore: boolean;
  readonly stripAfter: boolean;
  /** Why it cannot be put in; null where it can. */
  readonly refusal: Refusal | null;
};
export type Refusal = {
  readonly message: string;
  readonly fix: string;
  /** Name of the partial that does not exist. */
  readonly missing?: string;
};

const BODY = /\{\{\{\s*body\s*\}\}\}/y;
const PARTIAL = /\{\{(~?)\s*>([^{}]*?)(~?)\}\}/y;
const COMMENT = /\{\{~?!/y;
const NAME = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** Maximum characters of one tag, equal to the renderer's maximum. */
const LONGEST_TAG = 1000;

/**
 * All tags of a source for which another text is put in, in their order. Braces that are written out (`\{{`), comments and
 * texts in quotes hold none. One pass in linear time over any source; what is no tag at all is left to the renderer's check.
 */
export function putInTags(source: string): readonly PutInTag[] {
  const tags: PutInTag[] = [];
  for (let at = source.indexOf('{{'); at !== -1;) {
    if (source[at - 1] === '\\' && source[at - 2] !== '\\') {
      at = source.indexOf('{{', at + 2);
      continue;
    }
    const tag = bodyAt(source, at) ?? partialAt(source, at);
    if (tag) tags.push(tag);
    at = source.indexOf('{{', tag ? tag.end : endOfTag(source, at));
  }
  return tags;
}

function bodyAt(source: string, at: number): PutInTag | null {
  BODY.lastIndex = at;
  if (!BODY.test(source)) return null;
  return {
    start: at,
    end: BODY.lastIndex,
    kind: 'body',
    name: '',
    stripBefore: false,
    stripAfter: false,
    refusal: null,
  };
}

function partialAt(source: string, at: number): PutInTag | null {
  PARTIAL.lastIndex = at;
  const found = PARTIAL.exec(source);
  if (!found) return null;
  const [, before, inside = '', after] = found;
  const written = inside.trim();
  return {
    start: at,
    end: PARTIAL.lastIndex,
    kind: 'partial',
    name: written,
    stripBefore: before === '~',
    stripAfter: after === '~',
    refusal: NAME.test(written) ? null : refusalOf(written),
  };
}

function refusalOf(written: string): Refusal {
  if (written.startsWith('(')) {
    return {
      message: 'The event cannot choose a partial',
      fix: 'Write the name of the partial, in {{#if}} where it depends.',
    };
  }
  const [first = ''] = written.split(/\s/);
  return NAME.test(first)
    ? {
        message: `The partial ${first} takes no values: it reads what stands around it`,
        fix: `Write {{> ${first}}}, in {{#with item}}...{{/with}} where it is about an item.`,
      }
    : { message: 'This is no name of a partial', fix: 'Write {{> name}}: a-z, 0-9 and -, as its file is called.' };
}

/** Where the text goes on after a tag that stands for itself. */
function endOfTag(source: string, at: number): number {
  COMMENT.lastIndex = at;
  if (COMMENT.test(source)) {
    const closing = source.startsWith('--', COMMENT.lastIndex) ? '--' : '}}';
    const end = source.indexOf(closing, COMMENT.lastIndex + closing.length);
    return end === -1 ? source.length : end + 2;
  }
  const last = Math.min(source.length, at + LONGEST_TAG);
  for (let i = at + 2; i < last; i += 1) {
    const char = source[i] as string;
    if (char === '"' || char === "'") {
      const end = source.indexOf(char, i + 1);
      if (end === -1 || end > last) return at + 2;
      i = end;
    } else if (char === '}' && source[i + 1] === '}') return i + 2;
  }
  return at + 2;
}

/** Replaces includes by blanks, so that the source can be checked alone with unchanged positions. */
export function withoutPutIns(source: string): string {
  let text = '';
  let at = 0;
  for (const { start, end } of putInTags(source)) {
    text += source.slice(at, start) + source.slice(start, end).replaceAll(/[^\n]/g, ' ');
    at = end;
  }
  return text + source.slice(at);
}
