import type { ChannelName } from '@carillon/domain/channels';
import { findRuleOf, streamTable, type Configuration, type PlacedRule } from '@carillon/domain/configuration';
import type { Trigger } from '@carillon/domain/lookups';
import type { CompiledRule } from '@carillon/domain/rules';
import { findTemplates } from '@carillon/domain/templates';
import type { Result } from '@carillon/kernel';
import type { TemplateField, TemplateNames, TemplateRenderer } from '@carillon/ports';

/** A compiled rule, or why it cannot be compiled. A rule that cannot be compiled never fires. */
export type BookRule =
  | { readonly ok: true; readonly placed: PlacedRule; readonly rule: CompiledRule }
  | { readonly ok: false; readonly placed: PlacedRule; readonly error: string };

export type CompileRule = (placed: PlacedRule) => Result<CompiledRule, readonly { readonly message: string }[]>;

export type RuleBook = {
  /** Returns the rules of a stream under a configuration, compiled once per version. */
  rulesOf(configuration: Configuration, stream: string): readonly BookRule[];
  /**
   * Returns the rule that made a trigger, whatever its stream is now. Undefined if the configuration has no such rule.
   */
  ruleOf(configuration: Configuration, trigger: Trigger): BookRule | undefined;
  /**
   * Returns the names that a template uses in any of its languages, and its version. Version 0 if there is no such
   * template.
   */
  template(configuration: Configuration, workspace: string, name: string, channel: ChannelName): KnownTemplate;
};

/**
 * Names that a message must store for a template. `ofItems`: names that the template reads in each of a digest's
 * `items`.
 */
export type KnownTemplate = {
  readonly version: number;
  readonly names: TemplateNames;
  readonly ofItems: TemplateNames;
};

const NO_NAMES: TemplateNames = { names: [], all: false };
const ITEMS = 'items';

/**
 * Returns the names that any language variant of a template uses. The reader's language may only be known when the
 * message is made.
 */
function together(variants: readonly TemplateNames[]): TemplateNames {
  if (variants.length === 1) return variants[0] ?? NO_NAMES;
  return {
    names: [...new Set(variants.flatMap(({ names }) => names))].toSorted(),
    all: variants.some(({ all }) => all),
  };
}

/** Returns true for a step to one or each element of a list. `items.length` is neither. */
const isItem = (step: TemplateField['steps'][number] | undefined): boolean => step === null || typeof step === 'number';

/** Returns the names that a template reads in each item of a digest. All names if it uses an item whole. */
function namesOfItems(fields: readonly TemplateField[]): TemplateNames {
  const paths = fields.map(({ steps }) => steps).filter((steps) => steps[0] === ITEMS && isItem(steps[1]));
  const names = paths.map((steps) => steps[2]).filter((name) => typeof name === 'string');
  return { names: [...new Set(names)], all: paths.some((steps) => typeof steps[2] !== 'string') };
}

export function createRuleBook(compile: CompileRule, templates: Pick<TemplateRenderer, 'names' | 'fields'>): RuleBook {
  const books = new WeakMap<Configuration, Map<string, readonly BookRule[]>>();
  const compiled = new WeakMap<object, ReturnType<CompileRule>>();
  const names = new WeakMap<object, Omit<KnownTemplate, 'version'>>();

  /**
   * Compiles a rule once per rule body. The body is the same object in all configurations in which the notification did
   * not change.
   */
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
 * Returns a rule book without the rules that `includes` refuses. Returns the same list object each time, because
 * results are cached by list. A rule has its full steps here, even if live evaluation skips it because earlier rules
 * used up the steps of the event.
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
