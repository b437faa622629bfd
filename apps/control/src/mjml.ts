import { faultIn, isKind, includesIn, type Fault, type WantedResource } from '@carillon/configuration';
import {
  asWritten,
  CHANNEL_NAMES,
  variantsOf,
  type ChannelTemplate,
  type TemplateVariant,
} from '@carillon/domain/channels';
import { listResources, resourceKey, type Configuration, type TemplateBody } from '@carillon/domain/configuration';
import {
  assemble,
  originOf,
  placeAt,
  putInsOf,
  wholeText,
  type TemplateIncludes,
  type TextPiece,
} from '@carillon/domain/templates';
import type { MjmlCompiler, MjmlFault, TemplateRenderer } from '@carillon/ports';

export type CompilePorts = {
  readonly mjml: Pick<MjmlCompiler, 'compile'>;
  readonly templates: Pick<TemplateRenderer, 'check'>;
};

export type CompiledResources = {
  /** Resources with HTML compiled from MJML, including unchanged templates that use a changed layout or partial. */
  readonly resources: readonly WantedResource[];
  readonly faults: readonly Fault[];
};

/**
 * Compiles the MJML of templates, layouts and partials. The HTML is stored in the configuration next to its source and
 * is used for rendering. With `prune`, unnamed templates are removed and not compiled.
 * All plans share one compiler. After a part that stopped the compiler, the plan compiles nothing more, because a
 * folder of such parts would block all other plans. The remaining parts are refused with the same reason.
 */
export async function compileTemplates(
  wanted: readonly WantedResource[],
  current: Configuration,
  prune: boolean,
  ports: CompilePorts,
): Promise<CompiledResources> {
  const faults: Fault[] = [];
  const resources: WantedResource[] = [];
  const guarded = { ...ports, mjml: untilStopped(ports.mjml) };
  for (const resource of [...wanted, ...(prune ? [] : touched(wanted, current))]) {
    if (!isKind(resource, 'template')) resources.push(resource);
    else
      resources.push(await compileOne(resource, includesIn(wanted, resource.ref.workspace, current), faults, guarded));
  }
  return { resources, faults };
}

/** The compiler until a source stops it. */
function untilStopped(mjml: CompilePorts['mjml']): CompilePorts['mjml'] {
  let stoppedBy: MjmlFault | undefined;
  return {
    async compile(source) {
      if (stoppedBy) return { ok: false, faults: [leftBehind(stoppedBy)] };
      const compiled = await mjml.compile(source);
      if (!compiled.ok && compiled.stopped) [stoppedBy] = compiled.faults;
      return compiled;
    },
  };
}

const leftBehind = ({ message }: MjmlFault): MjmlFault => ({
  line: 1,
  column: 1,
  message: `This template was not compiled, because another MJML template of the same change is too large. ${message}`,
  fix: 'Simplify the other MJML template first.',
});

/** Templates that are not among these, are MJML, and have one of these put in. */
function touched(wanted: readonly WantedResource[], current: Configuration): readonly WantedResource<'template'>[] {
  const named = new Set(wanted.map(({ ref }) => resourceKey(ref)));
  return listResources(current, 'template').flatMap(({ ref, body }) => {
    const { workspace } = ref;
    if (named.has(resourceKey(ref)) || !hasMjml(body)) return [];
    const { layouts, partials } = putInsOf(body, includesIn(wanted, workspace, current));
    const isNamed = (kind: 'layout' | 'partial') => (name: string) => named.has(resourceKey({ kind, workspace, name }));
    return layouts.some(isNamed('layout')) || partials.some(isNamed('partial')) ? [{ ref, body }] : [];
  });
}

const hasMjml = (body: TemplateBody): boolean =>
  CHANNEL_NAMES.some((channel) => variantsOf(body, channel).some(({ sources }) => Object.keys(sources).length > 0));

async function compileOne(
  resource: WantedResource<'template'>,
  includes: TemplateIncludes,
  faults: Fault[],
  ports: CompilePorts,
): Promise<WantedResource<'template'>> {
  let { body } = resource;
  for (const channel of CHANNEL_NAMES) {
    for (const variant of variantsOf(resource.body, channel)) {
      for (const [part, { key }] of Object.entries(variant.sources)) {
        const { template, pieces } = assemble(asWritten(variant), includes);
        const made = pieces[part] ?? [];
        const compiled = await ports.mjml.compile(wholeText(made));
        const found = compiled.ok ? afterwards(template, part, compiled.html, ports) : compiled.faults;
        faults.push(...found.map((fault) => inOrigin(resource, variant, key, made, fault)));
        if (compiled.ok) body = withPart(body, variant, part, compiled.html);
      }
    }
  }
  return { ...resource, body };
}

/** Returns mistakes of the compiled part that its source did not have, because compiling may add tags. */
const afterwards = (
  template: ChannelTemplate,
  part: string,
  html: string,
  { templates }: CompilePorts,
): readonly MjmlFault[] =>
  templates
    .check({ ...template, parts: { ...template.parts, [part]: html }, compiled: [part] })
    .slice(0, 1)
    .map(({ message, fix }) => ({ line: 1, column: 1, message: `In the compiled HTML: ${message}`, fix }));

/** The fault where it was written: in the template, its layout or a partial. */
function inOrigin(
  { ref }: WantedResource<'template'>,
  { channel, locale }: TemplateVariant,
  key: string,
  pieces: readonly TextPiece[],
  { message, fix, ...place }: MjmlFault,
): Fault {
  const found = originOf(pieces, place);
  const spot = found ? placeAt(found.origin.source, found.at) : place;
  if (found && found.origin.kind !== 'template') {
    const { kind, name, part } = found.origin;
    const coded = { code: 'mjml_invalid', facts: { message, fix, template: ref.name } } as const;
    const own = { kind, workspace: ref.workspace, name };
    return faultIn(own, [part], coded, spot);
  }
  const path = [...(locale === null ? [channel] : [channel, 'locales', locale]), key];
  const coded = { code: 'mjml_invalid', facts: { message, fix, template: '' } } as const;
  return faultIn(ref, path, coded, spot);
}

/** The body with what was compiled in it. */
function withPart(body: TemplateBody, { channel, locale }: TemplateVariant, part: string, text: string): TemplateBody {
  const written: { readonly locales?: Readonly<Record<string, object>> } = body[channel] ?? {};
  const { locales = {} } = written;
  const inLanguage =
    locale === null ? { [part]: text } : { locales: { ...locales, [locale]: { ...locales[locale], [part]: text } } };
  return { ...body, [channel]: { ...written, ...inLanguage } };
}
