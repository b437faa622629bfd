import type { ChannelName } from '@carillon/domain/channels';
import { findRuleOf, streamTable, type Configuration, type PlacedRule } from '@carillon/domain/configuration';
import type { Trigger } from '@carillon/domain/lookups';
import type { CompiledRule } from '@carillon/domain/rules';
import { findTemplates } from '@carillon/domain/templates';
import type { Result } from '@carillon/kernel';
import type { TemplateField, TemplateNames, TemplateRenderer } from '@carillon/ports';

/** How a rule came out of the compiler. One that cannot be compiled here fires nothing and says why. */
export type BookRule =
  | { readonly ok: true; readonly placed: PlacedRule; readonly rule: CompiledRule }
  | { readonly ok: false; readonly placed: PlacedRule; readonly error: string };

export type CompileRule = (placed: PlacedRule) => Result<CompiledRule, readonly { readonly message: string }[]>;

export type RuleBook = {
  /** The rules that a stream feeds under this configuration, compiled once per version. */
  rulesOf(configuration: Configuration, stream: string): readonly BookRule[];
  /** The rule that made a trigger under this configuration, whatever feeds it; undefined where there is none. */
  ruleOf(configuration: Configuration, trigger: Trigger): BookRule | undefined;
  /** The names that a template refers to in any language, and its version; version 0 where there is none of this name. */
  template(configuration: Configuration, workspace: string, name: string, channel: ChannelName): KnownTemplate;
};

/** What a message has to carry for a template. `ofItems`: what it looks up in each of the `items` of a digest. */
export type KnownTemplate = {
  readonly version: number;
  readonly names: TemplateNames;
  readonly ofItems: TemplateNames;
};

const NO_NAMES: TemplateNames = { names: [], all: false };
const ITEMS = 'items';

/** Which language somebody reads may be known only when the message is made, so what any of them needs has to be there. */
function together(variants: readonly TemplateNames[]): TemplateNames {
  if (variants.length === 1) return variants[0] ?? NO_NAMES;
  return {
    names: [...new Set(variants.flatMap(({ names }) => names))].toSorted(),
    all: variants.some(({ all }) => all),
  };
}

/** One of a list, or each: `items.length` is neither. */
const isItem = (step: TemplateField['steps'][number] | undefined): boolean => step === null || typeof step === 'number';

/** The names that a template looks up in each item of a digest; all of them where it takes an item whole. */
function namesOfItems(fields: readonly TemplateField[]): TemplateNames {
  const paths = fields.map(({ steps }) => steps).filter((steps) => steps[0] === ITEMS && isItem(steps[1]));
  const names = paths.map((steps) => steps[2]).filter((name) => typeof name === 'string');
  return { names: [...new Set(names)], all: paths.some((steps) => typeof steps[2] !== 'string') };
}

export function createRuleBook(compile: CompileRule, templates: Pick<TemplateRenderer, 'names' | 'fields'>): RuleBook {
  const books = new WeakMap<Configuration, Map<string, readonly BookRule[]>>();
  const compiled = new WeakMap<object, ReturnType<CompileRule>>();
  const names = new WeakMap<object, Omit<KnownTemplate, 'version'>>();

  /** Keyed by the rule's body: it is the same object in every configuration in which the notification did not change. */
  function compileOnce(placed: PlacedRule): BookRule {
    let result = compiled.get(placed.body);
    if (!result) {
      result = compile(placed);
      compiled.set(placed.body, result);
    }
    return result.ok
      ? { ok: true, placed, rule: { ...result.value, placed } }
      : { ok: false, placed, error: result.error.map((fault) => fault.message).join('; ') };
  }

  return {
    rulesOf(configuration, stream) {
      let book = books.get(configuration);
      if (!book) {
        book = new Map();
        books.set(configuration, book);
      }
      let rules = book.get(stream);
      if (!rules) {
        rules = (streamTable(configuration).rules.get(stream) ?? []).map(compileOnce);
        book.set(stream, rules);
      }
      return rules;
    },
    ruleOf(configuration, trigger) {
      const placed = findRuleOf(configuration, trigger);
      return placed && compileOnce(placed);
    },
    template(configuration, workspace, name, channel) {
      const found = findTemplates(configuration, workspace, name, channel);
      if (!found) return { version: 0, names: NO_NAMES, ofItems: NO_NAMES };
      let known = names.get(found);
      if (!known) {
        const variants = found.variants.map(({ template }) => template);
        known = {
          names: together(variants.map((template) => templates.names(template))),
          ofItems: together(variants.map((template) => namesOfItems(templates.fields(template)))),
        };
        names.set(found, known);
      }
      return { version: found.version, ...known };
    },
  };
}

/**
 * Returns a rule book without the rules that `includes` refuses. It returns the same list each time, because results are
 * cached by list. A rule that live evaluation passes over, because rules before it spent the steps of the event, has steps here.
 */
export function narrowRuleBook(book: RuleBook, includes: (placed: PlacedRule) => boolean): RuleBook {
  const narrowed = new WeakMap<readonly BookRule[], readonly BookRule[]>();
  return {
    ...book,
    rulesOf(configuration, stream) {
      const all = book.rulesOf(configuration, stream);
      let rules = narrowed.get(all);
      if (!rules) {
        rules = all.filter(({ placed }) => includes(placed));
        narrowed.set(all, rules);
      }
      return rules;
    },
    ruleOf(configuration, trigger) {
      const entry = book.ruleOf(configuration, trigger);
      return entry && includes(entry.placed) ? entry : undefined;
    },
  };
}
