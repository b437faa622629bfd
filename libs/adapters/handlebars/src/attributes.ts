import type { TemplateFault } from '@carillon/ports';
import { placeOf, type Mustache, type Program } from './syntax.ts';

/** Attributes whose value is an address that a reader may follow or load. */
const LINKS: ReadonlySet<string> = new Set(['href', 'src', 'action', 'formaction', 'poster', 'background']);

/** Position in HTML, as needed to escape values. `value`: the attribute's value has text before the position. */
type State = {
  readonly in: 'text' | 'tag' | 'equals' | 'quoted' | 'bare';
  readonly attribute: string;
  readonly quote: string;
  readonly value: boolean;
};
const OUTSIDE: State = { in: 'text', attribute: '', quote: '', value: false };
const IN_TAG: State = { ...OUTSIDE, in: 'tag' };

/**
 * Returns warnings about attributes of a checked HTML part that are dangerous with untrusted data: a link that begins
 * with data and does not use `url`, and a value without quotes. Reads the text once.
 */
export function attributeWarnings(part: string, program: Program): readonly TemplateFault[] {
  const warnings: TemplateFault[] = [];
  const warn = (at: Mustache, message: string, fix: string): void =>
    void warnings.push({ part, ...placeOf(at), message, fix });

  function look({ body }: Program, before: State): State {
    let state = before;
    for (const statement of body) {
      if (statement.type === 'ContentStatement') state = after(statement.value, state);
      else if (statement.type === 'MustacheStatement') {
        lookAt(statement, state);
        if (state.in === 'equals') state = { ...state, in: 'bare', value: true };
        if (state.in === 'quoted') state = { ...state, value: true };
      } else if (statement.type === 'BlockStatement') {
        const begun = state;
        if (statement.program) state = look(statement.program, begun);
        if (statement.inverse) look(statement.inverse, begun);
      }
    }
    return state;
  }

  function lookAt(mustache: Mustache, { in: where, attribute, value }: State): void {
    if (where === 'bare') {
      warn(
        mustache,
        `the value of ${attribute} has no quotes, so a space in the data starts another attribute`,
        `write ${attribute}="…" around it`,
      );
    }
    const called = 'original' in mustache.path ? mustache.path.original : '';
    if (where !== 'quoted' || value || !LINKS.has(attribute) || called === 'url') return;
    warn(
      mustache,
      `the target of ${attribute} comes from the event, so its sender chooses it, even javascript: or data:`,
      `write ${attribute}="{{url …}}": it takes https alone; or write the beginning of the address into the template`,
    );
  }

  look(program, OUTSIDE);
  return warnings;
}

function after(text: string, before: State): State {
  let state = before;
  for (let at = 0; at < text.length; at += 1) state = step(text.charAt(at), text.charAt(at + 1), state);
  return state;
}

function step(character: string, next: string, state: State): State {
  const blank = /\s/.test(character);
  switch (state.in) {
    case 'text':
      return character === '<' && /[A-Za-z]/.test(next) ? IN_TAG : state;
    case 'tag':
      if (character === '>') return OUTSIDE;
      if (character === '=') return { ...state, in: 'equals' };
      // A blank ends a name, unless its `=` is still to come.
      return blank || character === '/'
        ? { ...state, value: true }
        : { ...state, attribute: `${state.value ? '' : state.attribute}${character.toLowerCase()}`, value: false };
    case 'equals':
      if (blank) return state;
      if (character === '>') return OUTSIDE;
      return character === '"' || character === "'"
        ? { ...state, in: 'quoted', quote: character, value: false }
        : { ...state, in: 'bare', value: true };
    case 'quoted':
      if (character === state.quote) return { ...IN_TAG, value: true };
      return blank ? state : { ...state, value: true };
    case 'bare':
      if (character === '>') return OUTSIDE;
      return blank ? IN_TAG : state;
  }
}
