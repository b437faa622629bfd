import type { MjmlFault } from '@carillon/ports';
import { ENDS_BY_ITSELF, isMjml, meantElement, MJML_ELEMENTS, takesHtml, VOID } from './elements.ts';
import { MJML_LIMITS } from './limits.ts';

type Open = { readonly name: string; readonly at: number };

const COMMENT = '<!--';
/** The inside of a tag: texts in quotes may hold `>`. */
const TAG = /<(\/?)([A-Za-z][\w:.-]*)((?:"[^"]*"|'[^']*'|[^"'<>])*)(>?)/y;
/** Maximum faults reported per source. */
const MOST = 20;

/**
 * Returns the faults of a source, found in one linear pass before the compiler reads it. The compiler closes open elements by
 * itself, ignores unknown ones and gives no columns. HTML inside text is not checked: the compiler passes it on as written.
 */
export function scanMjml(source: string): readonly MjmlFault[] {
  if (source.length > MJML_LIMITS.source) {
    const message = `The source has ${source.length} characters with its layout and partials; ${MJML_LIMITS.source} are allowed`;
    return [{ line: 1, column: 1, message, fix: 'Shorten it, or use {{#each}} for what repeats.' }];
  }
  const pass = new Pass(source);
  let at = 0;
  while (!pass.isOver) {
    const next = source.indexOf('<', at);
    if (next === -1) break;
    at = pass.element(next);
  }
  return pass.finish();
}

class Pass {
  readonly #source: string;
  readonly #faults: MjmlFault[] = [];
  readonly #open: Open[] = [];
  #elements = 0;
  #roots = 0;
  #stopped = false;

  constructor(source: string) {
    this.#source = source;
  }

  get isOver(): boolean {
    return this.#stopped || this.#faults.length >= MOST;
  }

  /** Reads the tag at an offset; returns where to go on. */
  element(at: number): number {
    if (this.#source.startsWith(COMMENT, at)) {
      const end = this.#source.indexOf('-->', at + COMMENT.length);
      if (end !== -1) return end + 3;
      return this.#stop(at, 'This comment is not closed', 'Close it: <!-- ... -->.');
    }
    if (this.#source.startsWith('<!', at) || this.#source.startsWith('<?', at)) {
      if (this.#isInHtml) return at + 2;
      return this.#stop(at, 'A declaration cannot stand in MJML', 'Begin with <mjml>; the compiler writes the rest.');
    }
    TAG.lastIndex = at;
    const [all = '', slash, written = '', inside = '', closed] = TAG.exec(this.#source) ?? [];
    if (all === '' && this.#isInHtml) return at + 1;
    if (all === '') return this.#stop(at, 'This < begins no element', 'Write &lt; where you mean the character.');
    if (closed === '') {
      return this.#stop(at, `<${slash}${written} is not closed`, 'Close it with >, and every quote inside it.');
    }
    const name = written.toLowerCase();
    if (slash === '/') this.#close(name, at);
    else this.#begin(name, inside.trimEnd().endsWith('/'), at);
    return at + all.length;
  }

  finish(): readonly MjmlFault[] {
    const [first] = this.#open;
    if (!this.isOver && first) {
      const inner = this.#open.at(-1) ?? first;
      this.#fault(inner.at, `<${inner.name}> is not closed`, `Write </${inner.name}> where it ends.`);
    }
    if (this.#faults.length === 0 && this.#roots === 0) {
      this.#fault(0, 'There is no <mjml>', 'Write <mjml><mj-body>...</mj-body></mjml>, here or in the layout.');
    }
    return this.#faults;
  }

  #begin(name: string, selfClosed: boolean, at: number): void {
    this.#elements += 1;
    if (this.#elements > MJML_LIMITS.elements) {
      this.#stop(at, `More than ${MJML_LIMITS.elements} elements`, 'Use {{#each}} in <mj-raw> for what repeats.');
      return;
    }
    const around = this.#open.at(-1)?.name;
    this.#judge(name, around, at);
    if (name === 'mjml') this.#roots += 1;
    if (selfClosed || (VOID.has(name) && !isMjml(name))) return;
    if (ENDS_BY_ITSELF.has(name) && around === name) this.#open.pop();
    this.#open.push({ name, at });
    if (this.#open.length > MJML_LIMITS.depth) {
      this.#stop(
        at,
        `More than ${MJML_LIMITS.depth} elements inside each other`,
        'Remove elements that contain only one other element.',
      );
    }
  }

  /** Whether an element may stand where it does. */
  #judge(name: string, around: string | undefined, at: number): void {
    if (name === 'mj-include') {
      this.#fault(at, 'mj-include is refused: a template reads no files', 'Use a partial: {{> name}}.');
    } else if (isMjml(name) && !MJML_ELEMENTS.includes(name)) {
      const meant = meantElement(name);
      const fix = meant === null ? 'See docs/templates.md for those that there are.' : `Did you mean <${meant}>?`;
      this.#fault(at, `There is no element <${name}>`, fix);
    } else if (around === undefined && name !== 'mjml') {
      this.#fault(at, `<${name}> stands outside of <mjml>`, 'Put all of it into <mjml>.');
    } else if (around !== undefined && name === 'mjml') {
      this.#fault(
        at,
        '<mjml> stands inside of another element',
        'A template in a layout holds what goes into its body.',
      );
    } else if (
      !isMjml(name) &&
      around !== undefined &&
      isMjml(around) &&
      !takesHtml(around) &&
      around !== 'mj-attributes'
    ) {
      this.#fault(at, `<${name}> is HTML and cannot stand in <${around}>`, 'Put it into <mj-text> or <mj-raw>.');
    }
  }

  /** Whether the pass is inside an element of MJML that holds HTML. */
  get #isInHtml(): boolean {
    return this.#open.some(({ name }) => takesHtml(name));
  }

  #close(name: string, at: number): void {
    if (this.#isInHtml && !isMjml(name)) {
      // HTML may be closed in another part: <mj-raw><div></mj-raw> … <mj-raw></div></mj-raw>.
      if (this.#open.at(-1)?.name === name) this.#open.pop();
      return;
    }
    while (this.#isInHtml && !isMjml(this.#open.at(-1)?.name ?? 'mjml')) this.#open.pop();
    const last = this.#open.at(-1);
    if (last?.name === name) {
      this.#open.pop();
    } else if (last && this.#open.some((one) => one.name === name)) {
      this.#stop(last.at, `<${last.name}> is not closed`, `Write </${last.name}> before </${name}>.`);
    } else if (!VOID.has(name)) {
      this.#stop(at, `</${name}> closes what was not begun`, last ? `<${last.name}> is open here.` : 'Take it out.');
    }
  }

  #fault(at: number, message: string, fix: string): void {
    const before = this.#source.slice(0, at);
    this.#faults.push({ line: before.split('\n').length, column: at - before.lastIndexOf('\n'), message, fix });
  }

  #stop(at: number, message: string, fix: string): number {
    this.#fault(at, message, fix);
    this.#stopped = true;
    return this.#source.length;
  }
}
