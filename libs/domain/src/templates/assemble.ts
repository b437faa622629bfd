import { CHANNEL_NAMES, CHANNELS } from '../channels/channel.ts';
import { asWritten, variantsOf, type ChannelTemplate, type TemplateVariant } from '../channels/configured.ts';
import type { TemplateBody } from '../configuration/resources.ts';
import {
  newPutting,
  putTogether,
  wholeText,
  type IncludeFault,
  type TemplateIncludes,
  type TextOrigin,
  type TextPiece,
} from './template-includes.ts';
import { putInTags } from './put-in-tags.ts';

/** A template of one channel and language with its layout and partials in place. */
export type Assembled = {
  readonly template: ChannelTemplate;
  /** Pieces of each part, by its name. */
  readonly pieces: Readonly<Record<string, readonly TextPiece[]>>;
  readonly faults: readonly IncludeFault[];
  /** The layout cannot be taken: why, and what to do. */
  readonly layoutFault: { readonly message: string; readonly fix: string; readonly part: string } | null;
  /** Names of what was put in. */
  readonly layout: string | null;
  readonly partials: readonly string[];
};

/**
 * Inserts layout and partials into a template, as if all were written in one place. Compiled parts already contain
 * theirs. Pure, never throws, and takes bounded time for any source.
 */
export function assemble(variant: TemplateVariant, includes: TemplateIncludes): Assembled {
  const { channel, parts, layout: named } = variant;
  const putting = newPutting(includes);
  const layout = named === null ? undefined : includes.layout(named);
  const pieces: Record<string, readonly TextPiece[]> = {};
  let layoutFault: Assembled['layoutFault'] =
    named !== null && !layout
      ? { message: `there is no layout ${named}`, fix: `write layouts/${named}.html`, part: '' }
      : null;
  for (const [name, source] of Object.entries(parts)) {
    const key = (variant.compiled.includes(name) ? undefined : variant.sources[name]?.key) ?? name;
    const origin: TextOrigin = { kind: 'template', name: '', part: key, source };
    if (variant.compiled.includes(name)) {
      pieces[name] = [{ origin, start: 0, text: source }];
      continue;
    }
    const { layout: wanted } = CHANNELS[channel].parts.find((part) => part.name === name) ?? { layout: null };
    const around = wanted === null ? undefined : (layout as Readonly<Record<string, string>> | undefined)?.[key];
    if (wanted === 'needed' && layout && around === undefined) layoutFault = lacks(named ?? '', key);
    pieces[name] =
      around === undefined
        ? putTogether(origin, putting)
        : putTogether({ kind: 'layout', name: named ?? '', part: key, source: around }, putting, origin);
  }
  return {
    template: {
      channel,
      parts: Object.fromEntries(Object.entries(pieces).map(([name, list]) => [name, wholeText(list)])),
      settings: variant.settings,
      strict: variant.strict,
      compiled: variant.compiled,
    },
    pieces,
    faults: putting.faults,
    layoutFault,
    layout: layout ? named : null,
    partials: [...putting.partials],
  };
}

const lacks = (layout: string, key: string): NonNullable<Assembled['layoutFault']> => ({
  message: `layout ${layout} has nothing for ${key}`,
  fix: `write layouts/${layout}.${key}, or take the layout out`,
  part: key,
});

/** Names of all that a template is made of besides itself, in all its languages and channels. */
export function putInsOf(
  body: TemplateBody,
  includes: TemplateIncludes,
): { readonly layouts: readonly string[]; readonly partials: readonly string[] } {
  const assembled = CHANNEL_NAMES.flatMap((channel) => variantsOf(body, channel)).map((one) => ({
    named: one.layout,
    ...assemble(asWritten(one), includes),
  }));
  return {
    layouts: [...new Set(assembled.flatMap(({ named }) => named ?? []))],
    partials: [...new Set(assembled.flatMap(({ partials }) => partials))],
  };
}

/** How often `{{{body}}}` stands in a layout. */
export const bodiesIn = (source: string): number => putInTags(source).filter(({ kind }) => kind === 'body').length;

/** Names of the partials that a text holds itself, each once. */
export const partialsIn = (source: string): readonly string[] => [
  ...new Set(putInTags(source).flatMap(({ kind, name, refusal }) => (kind === 'partial' && !refusal ? [name] : []))),
];
