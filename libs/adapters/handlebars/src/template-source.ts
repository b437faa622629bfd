import { CHANNELS, type ChannelTemplate, type TemplatePart } from '@carillon/domain/channels';

/**
 * A part of a template: its definition by the channel, and its source. The source is undefined if the author left the
 * part out.
 */
export type SourcePart = TemplatePart & {
  readonly source: string | undefined;
  /** Nobody wrote it by hand: it was compiled, and may be larger. */
  readonly compiled: boolean;
};

/** A template with all that reading and rendering it needs of its channel: data that a thread can give to another. */
export type TemplateSource = {
  /** All parts that the channel has, in the order in which they are checked and rendered. */
  readonly parts: readonly SourcePart[];
  /** The parts of which at least one has to be there. */
  readonly content: readonly string[];
  readonly strict: boolean;
};

const known = new WeakMap<ChannelTemplate, TemplateSource>();

/** The same object for the same template. */
export function templateSourceOf(template: ChannelTemplate): TemplateSource {
  let sheet = known.get(template);
  if (!sheet) {
    const { parts, content } = CHANNELS[template.channel];
    sheet = { parts: parts.flatMap((part) => written(part, template)), content, strict: template.strict };
    known.set(template, sheet);
  }
  return sheet;
}

/** A group has as many parts as its author wrote, in their order. */
function written(part: TemplatePart, { parts: sources, compiled }: ChannelTemplate): SourcePart[] {
  if (!part.group) return [{ ...part, source: sources[part.name], compiled: compiled.includes(part.name) }];
  return Object.entries(sources)
    .filter(([name]) => name.startsWith(`${part.name}.`))
    .map(([name, source]) => ({ ...part, name, source, compiled: false }));
}
