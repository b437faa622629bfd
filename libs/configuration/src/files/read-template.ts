import type { TemplateBody } from '@carillon/domain/configuration';
import type { FileBodies } from '@carillon/shapes';
import {
  TEMPLATE_FILES,
  TEMPLATE_YAML,
  templateFile,
  yamlKind,
  type TemplateFile,
  type TemplateYaml,
} from './layout.ts';
import type { FileFault } from './place.ts';
import { readFile, shapeOf } from './read-file.ts';
import { withoutFaultyValues } from './without-faulty-values.ts';
import { readYaml, type YamlSource } from './yaml-source.ts';

/** Files of one template folder in one language, or without language. */
export type TemplateFiles = { [File in TemplateFile | TemplateYaml]?: string };
/** Template files by language. Null: files without a language. */
export type TemplateParts = Map<string | null, TemplateFiles>;

export type ReadTemplate = {
  readonly sources: readonly {
    readonly channel: string;
    readonly locale: string | null;
    readonly source: YamlSource;
  }[];
  /** With mistakes: what of it can still be looked at. */
  readonly body: TemplateBody;
  readonly faults: readonly FileFault[];
};

type Sources = { channel: string; locale: string | null; source: YamlSource }[];
type Reading = {
  readonly workspace: string;
  readonly name: string;
  readonly faults: FileFault[];
  readonly sources: Sources;
};
/** Files of one language. `locale` is null without language. */
type InLanguage = { readonly files: TemplateFiles; readonly locale: string | null; readonly reading: Reading };

/** Puts the files of a template together. A mistake in one of them does not hide those in the others. */
export function readTemplate(workspace: string, name: string, parts: TemplateParts): ReadTemplate {
  const reading: Reading = { workspace, name, faults: [], sources: [] };
  const body: { -readonly [Key in keyof TemplateBody]: TemplateBody[Key] } = {};
  const base: InLanguage = { files: parts.get(null) ?? {}, locale: null, reading };
  const others = [...parts].flatMap(([locale, files]) => (locale === null ? [] : [{ files, locale, reading }]));
  for (const one of [base, ...others]) refuseEmpty(one);
  const email = has(base, 'email') ? readEmail(base) : undefined;
  if (email) body.email = { ...email, ...inLanguages(others, 'email', readEmailVariant) };
  const sms = base.files['sms.txt'];
  if (sms !== undefined) {
    body.sms = { text: sms, ...inLanguages(others, 'sms', ({ files }) => ({ text: files['sms.txt'] ?? '' })) };
  }
  if (has(base, 'push')) {
    body.push = {
      ...readHead(base, 'push.yaml', { title: 'any' }),
      ...inLanguages(others, 'push', (one) => readVariantHead(one, 'push.yaml', { title: 'any' })),
    };
  }
  for (const one of others) refuseAlone(one, base);
  return { sources: reading.sources, body, faults: reading.faults };
}

type Channel = (typeof TEMPLATE_FILES)[TemplateFile][0] | (typeof TEMPLATE_YAML)[TemplateYaml]['channel'];
const channelOfFile = (file: string): Channel =>
  file in TEMPLATE_YAML ? TEMPLATE_YAML[file as TemplateYaml].channel : TEMPLATE_FILES[file as TemplateFile][0];
const has = ({ files }: InLanguage, channel: Channel): boolean =>
  Object.keys(files).some((file) => channelOfFile(file) === channel);

/** The languages that have something for a channel. */
function inLanguages<Body>(
  others: readonly InLanguage[],
  channel: Channel,
  readOne: (one: InLanguage) => Body,
): { locales?: Record<string, Body> } {
  const own = others.filter((one) => has(one, channel));
  if (own.length === 0) return {};
  return { locales: Object.fromEntries(own.map((one) => [one.locale ?? '', readOne(one)])) };
}

const whole = ({ faults }: Reading, file: string, message: string, expected: string, fix: string): void =>
  void faults.push({ file, path: '', line: 1, column: 1, message, expected, fix });

const pathOf = ({ locale, reading }: InLanguage, file: TemplateFile | TemplateYaml): string =>
  templateFile(reading.workspace, reading.name, file, locale);

function refuseEmpty(one: InLanguage): void {
  for (const file of Object.keys(TEMPLATE_FILES) as TemplateFile[]) {
    if (one.files[file]?.trim() !== '') continue;
    whole(one.reading, pathOf(one, file), `${file} is empty`, 'a body', 'write it or remove the file');
  }
}

/** Refuses files of a language without a counterpart for all other readers. */
function refuseAlone(one: InLanguage, base: InLanguage): void {
  for (const file of Object.keys(one.files) as (TemplateFile | TemplateYaml)[]) {
    if (has(base, channelOfFile(file))) continue;
    const plain = pathOf(base, file);
    whole(
      one.reading,
      pathOf(one, file),
      `this is for readers of ${one.locale} alone, and there is nothing for everybody else`,
      plain.slice(plain.lastIndexOf('/') + 1),
      `write ${plain}, or remove this file`,
    );
  }
}

function readEmail(one: InLanguage): NonNullable<TemplateBody['email']> {
  const { files, reading } = one;
  const head = readHead(one, 'email.yaml', { subject: 'any' });
  if (files['email.yaml'] !== undefined && !hasBody(files)) {
    const fix = `write ${pathOf(one, 'email.html')}`;
    whole(reading, pathOf(one, 'email.yaml'), 'the template has no body', 'email.html, email.txt or both', fix);
  }
  return { ...head, ...bodiesOf(one) };
}

const readEmailVariant = (one: InLanguage) => ({
  ...readVariantHead(one, 'email.yaml', { subject: 'any' }),
  ...bodiesOf(one),
});

const hasBody = (files: TemplateFiles): boolean =>
  files['email.html'] !== undefined || files['email.mjml'] !== undefined || files['email.txt'] !== undefined;

function bodiesOf(one: InLanguage): { html?: string; mjml?: string; text?: string } {
  const { 'email.html': html, 'email.mjml': mjml, 'email.txt': text } = one.files;
  if (html !== undefined && mjml !== undefined) {
    whole(
      one.reading,
      pathOf(one, 'email.mjml'),
      'there is HTML and MJML, and the HTML is made from the MJML',
      'one of the two',
      `remove ${pathOf(one, 'email.html')}, or this file`,
    );
    return { html, ...(text !== undefined && { text }) };
  }
  return {
    ...(html !== undefined && { html }),
    ...(mjml !== undefined && { mjml }),
    ...(text !== undefined && { text }),
  };
}

type HeadKind = (typeof TEMPLATE_YAML)[TemplateYaml]['base'];
type VariantKind = (typeof TEMPLATE_YAML)[TemplateYaml]['variant'];

const readHead = <File extends TemplateYaml>(one: InLanguage, file: File, unread: object) =>
  readYamlPart(one, file, unread) as FileBodies[HeadKind & (typeof TEMPLATE_YAML)[File]['base']];
const readVariantHead = <File extends TemplateYaml>(one: InLanguage, file: File, unread: object) =>
  readYamlPart(one, file, unread) as FileBodies[VariantKind & (typeof TEMPLATE_YAML)[File]['variant']];

/** `unread` replaces an unreadable head, so that no further mistakes are reported for it. */
function readYamlPart(one: InLanguage, file: TemplateYaml, unread: object): object {
  const { files, locale, reading } = one;
  const kind = yamlKind(file, locale);
  const text = files[file];
  const path = pathOf(one, file);
  const { channel } = TEMPLATE_YAML[file];
  if (kind === null || text === undefined) {
    const called = path.slice(path.lastIndexOf('/') + 1);
    whole(reading, path, `${called} is missing`, 'a file with the subject', `write subject: … into ${path}`);
    reading.sources.push({ channel, locale, source: readYaml(path, '') });
    return unread;
  }
  const { source, body, value, faults } = readFile(kind, path, text);
  reading.faults.push(...faults);
  reading.sources.push({ channel, locale, source });
  return body ?? withoutFaultyValues<object>(shapeOf(kind), value ?? {}, source) ?? unread;
}
