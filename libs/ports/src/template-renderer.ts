import type { ChannelTemplate, RenderedParts } from '@carillon/domain/channels';
import type { FieldStep, JsonType } from '@carillon/domain/events';
import type { JsonObject, Locality } from '@carillon/kernel';

/** Top-level names that a template refers to. `all`: it uses the context itself, so everything has to be there. */
export type TemplateNames = { readonly names: readonly string[]; readonly all: boolean };

/** A value that a template looks up, as a path below its context. */
export type TemplateField = {
  readonly steps: readonly FieldStep[];
  /** Type that a helper needs. Null if it takes any type. */
  readonly type: JsonType | 'time' | null;
};

export type TemplateFault = {
  /** Name of the part, as the channel's table has it. */
  readonly part: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly fix: string;
};

export type Rendered =
  | {
      readonly ok: true;
      readonly parts: RenderedParts;
      /** Names that were missing and became empty text. */
      readonly missing: readonly string[];
    }
  | { readonly ok: false; readonly part: string; readonly message: string };

/**
 * Renders templates of tenants: hostile input. Compiled once per `key` (workspace, name and version), run where it can
 * be stopped: what takes more than 250 ms or more than the output limits ends as a failure, never as a stuck caller.
 */
export type TemplateRenderer = {
  /**
   * Checks a text that templates include or that includes other texts, on its own. It must be complete, but may use
   * names and levels that only its including text provides. Never throws.
   */
  piece(source: string): readonly Omit<TemplateFault, 'part'>[];
  /** Everything that is wrong with it, before it is saved; empty if it can be published. Never throws. */
  check(template: ChannelTemplate): readonly TemplateFault[];
  /**
   * Returns warnings about valid but dangerous parts of a template without faults. Empty for a template with faults.
   * Never throws.
   */
  warnings(template: ChannelTemplate): readonly TemplateFault[];
  names(template: ChannelTemplate): TemplateNames;
  /** Every path that rendering may look up, those in branches not taken among them; a template with faults has none. */
  fields(template: ChannelTemplate): readonly TemplateField[];
  /** Dates and numbers are shown by `locality`, where the template itself does not say; both of it have to exist. */
  render(key: string, template: ChannelTemplate, context: JsonObject, locality: Locality): Promise<Rendered>;
  close(): Promise<void>;
};
