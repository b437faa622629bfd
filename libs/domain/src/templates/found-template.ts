import { DEFAULT_LOCALITY, type JsonObject, type Locality } from '@carillon/kernel';
import type { ChannelName } from '../channels/channel.ts';
import { variantsOf, type ChannelTemplate, type TemplateVariant } from '../channels/configured.ts';
import { findResource, type Configuration, type Resource } from '../configuration/configuration.ts';
import { resourceKey, type ResourceKind } from '../configuration/resources.ts';
import { localityOf, type WrongLocality } from '../configuration/locality.ts';
import { assemble, type Assembled } from './assemble.ts';
import { languagesFor } from './languages.ts';
import { placeAt, type TemplateIncludes } from './template-includes.ts';

/** A template of one channel and language under a configuration, with everything inserted. */
export type FoundTemplate = {
  /** Cache key that identifies the template with all its parts. */
  readonly key: string;
  readonly template: ChannelTemplate;
  /** Language of the variant. Null: the default for all other readers. */
  readonly variant: string | null;
  readonly layout: string | null;
  /** Why the template cannot be assembled, as a sentence. Null if it can. `apply` refuses such templates. */
  readonly fault: string | null;
};

export type FoundTemplates = {
  /** Counts the published bodies of the template. */
  readonly version: number;
  /** Variants of the template, the default first. Empty if it has none for the channel. */
  readonly variants: readonly FoundTemplate[];
};

const found = new WeakMap<Configuration, Map<string, FoundTemplates>>();

/**
 * Returns the template of each channel under a configuration, with its layouts and partials inserted. Undefined if
 * there is no such template. Assembled once per configuration, and cached.
 */
export function findTemplates(
  configuration: Configuration,
  workspace: string,
  name: string,
  channel: ChannelName,
): FoundTemplates | undefined {
  const resource = findResource(configuration, 'template', workspace, name);
  if (!resource) return undefined;
  let known = found.get(configuration);
  if (!known) {
    known = new Map<string, FoundTemplates>();
    found.set(configuration, known);
  }
  const key = `${workspace}/${name} ${channel}`;
  let templates = known.get(key);
  if (!templates) {
    templates = putOneTogether(configuration, resource, channel);
    known.set(key, templates);
  }
  return templates;
}

/** Returns the variant for a reader: in their language, else in the workspace's, else the default. */
export function variantFor(
  { variants }: FoundTemplates,
  { locale }: Pick<Locality, 'locale'>,
  configuration: Configuration,
  workspace: string,
): FoundTemplate | undefined {
  const [base, ...others] = variants;
  if (others.length === 0) return base;
  const own = findResource(configuration, 'workspace', workspace, '')?.body.locale ?? DEFAULT_LOCALITY.locale;
  for (const language of languagesFor(locale, own)) {
    const match = others.find(({ variant }) => variant === language);
    if (match) return match;
  }
  return base;
}

/** The variant for a reader, with the reason of the choice. */
export type ReadersTemplate = {
  /** Undefined: the template has nothing for the channel. */
  readonly chosen: FoundTemplate | undefined;
  readonly locality: Locality;
  readonly wrong: readonly WrongLocality[];
  /** Which language it is and why, for people; null of a template that has no languages. */
  readonly language: string | null;
};

type Choice = Pick<ReadersTemplate, 'chosen' | 'language'>;

/** Chosen once for each language that is asked for, for thousands read in the same; so many are kept, because recipients choose them. */
const choices = new WeakMap<FoundTemplates, Map<string, Choice>>();
const CHOICES_KEPT = 64;

function choiceFor(
  templates: FoundTemplates,
  locality: Locality,
  configuration: Configuration,
  workspace: string,
): Choice {
  let known = choices.get(templates);
  if (!known) {
    known = new Map<string, Choice>();
    choices.set(templates, known);
  }
  let choice = known.get(locality.locale);
  if (!choice) {
    const chosen = variantFor(templates, locality, configuration, workspace);
    choice = { chosen, language: languageText(templates, chosen, locality) };
    if (known.size >= CHOICES_KEPT) known.clear();
    known.set(locality.locale, choice);
  }
  return choice;
}

/**
 * Returns the template of a message under its configuration, in the reader's language. Undefined if it does not exist.
 */
export function templateForReader(
  configuration: Configuration,
  workspace: string,
  name: string,
  channel: ChannelName,
  variables: JsonObject,
): ReadersTemplate | undefined {
  const templates = findTemplates(configuration, workspace, name, channel);
  if (!templates) return undefined;
  const { locality, wrong } = localityOf(configuration, workspace, variables);
  return { ...choiceFor(templates, locality, configuration, workspace), locality, wrong };
}

function languageText(
  { variants }: FoundTemplates,
  chosen: FoundTemplate | undefined,
  { locale }: Locality,
): string | null {
  const languages = variants.flatMap(({ variant }) => variant ?? []);
  if (languages.length === 0 || !chosen) return null;
  const reader = `the reader’s is ${locale}`;
  return chosen.variant === null
    ? `written in no language of its own (there are ${languages.join(', ')}; ${reader})`
    : `written in ${chosen.variant} (${reader})`;
}

/** Equal bodies give the same object, so that results derived from it stay valid under the next configuration. */
const kept = new WeakMap<object, { readonly of: readonly unknown[]; readonly found: FoundTemplate }[]>();
const KEPT = 4;

function putOneTogether(
  configuration: Configuration,
  { ref, body, number, version }: Resource<'template'>,
  channel: ChannelName,
): FoundTemplates {
  const { workspace, name } = ref;
  const variants = variantsOf(body, channel).map((variant): FoundTemplate => {
    const used: Resource[] = [];
    const assembled = assemble(variant, includesOf(configuration, workspace, used));
    const of = used.map((one) => one.body);
    const before = kept.get(variant) ?? [];
    const same = before.find((one) => one.of.length === of.length && one.of.every((item, at) => item === of[at]));
    if (same) return same.found;
    const versions = used.map((one) => ` ${resourceKey(one.ref)}@${one.number}`).join('');
    const fresh: FoundTemplate = {
      key: `${workspace}/${name}@${number} ${channel} ${variant.locale ?? ''}${versions}`,
      template: assembled.template,
      variant: variant.locale,
      layout: assembled.layout,
      fault: faultOf(variant, assembled),
    };
    kept.set(variant, [...before.slice(1 - KEPT), { of, found: fresh }]);
    return fresh;
  });
  return { version, variants };
}

/** Layouts and partials of a workspace; `used` hears of each that is taken. */
export function includesOf(configuration: Configuration, workspace: string, used: Resource[] = []): TemplateIncludes {
  const take = <Kind extends ResourceKind>(kind: Kind, name: string): Resource<Kind>['body'] | undefined => {
    const resource = findResource(configuration, kind, workspace, name);
    if (resource && !used.includes(resource)) used.push(resource);
    return resource?.body;
  };
  return { layout: (name) => take('layout', name), partial: (name) => take('partial', name) };
}

function faultOf({ sources, compiled }: TemplateVariant, { faults, layoutFault }: Assembled): string | null {
  const raw = Object.entries(sources).find(([name]) => !compiled.includes(name));
  if (raw) return `${raw[0]}: its ${raw[1].key} was never compiled`;
  if (layoutFault) return layoutFault.message;
  const [first] = faults;
  if (!first) return null;
  const { line, column } = placeAt(first.origin.source, first.at);
  const where = first.origin.kind === 'template' ? first.origin.part : `${first.origin.kind} ${first.origin.name}`;
  return `${where}: ${first.message} (line ${line}, column ${column})`;
}
