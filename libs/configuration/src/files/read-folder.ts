import { findResource, resourceKey, type ResourceBodies, type ResourceRef } from '@carillon/domain/configuration';
import type { CodedFault } from '@carillon/kernel';
import type { FileBodies, FileKind } from '@carillon/shapes';
import { RESOURCE_SHAPES, SLUG_WORDS } from '@carillon/shapes';
import { checkResources } from '../checks/check-resources.ts';
import { sentencesInFile } from '../checks/file-sentences.ts';
import type { Fault, Warning } from '../checks/finding.ts';
import { faultsOfTexts } from '../checks/salvaged.ts';
import type { CheckContext } from '../checks/check-context.ts';
import type { WantedResource, WrittenKind } from '../resource.ts';
import { fileOf, LAYOUT_FILES, roleOf, type FileRole } from './layout.ts';
import { faultAt, templateSourceKey, warningAt } from './locate.ts';
import { type FileFault, type FileWarning, inReadingOrder } from './place.ts';
import { readFile, shapeOf } from './read-file.ts';
import { readTemplate, type TemplateFiles, type TemplateParts } from './read-template.ts';
import { withoutFaultyValues } from './without-faulty-values.ts';
import type { YamlSource } from './yaml-source.ts';

export type FolderReading = {
  readonly resources: readonly WantedResource[];
  /** All mistakes, in reading order. With any of them nothing may be applied. */
  readonly faults: readonly FileFault[];
  readonly warnings: readonly FileWarning[];
  /** Returns a mistake with its position in the folder. */
  readonly faultAt: (fault: Fault) => FileFault;
  readonly warningAt: (warning: Warning) => FileWarning;
};

type Work = {
  readonly read: WantedResource[];
  /** Parts of files with mistakes: only their expressions and templates are checked. */
  readonly salvaged: WantedResource[];
  /** By `resourceKey`. */
  readonly sources: Map<string, YamlSource>;
  readonly faults: FileFault[];
  /** Names by kind and workspace, of files with mistakes too: those are not missing. */
  readonly names: Map<string, string[]>;
  readonly templates: Map<string, { workspace: string; name: string; parts: TemplateParts }>;
  /** Resources that span several files, whose shape cannot be wrong. */
  readonly layouts: Map<
    string,
    { workspace: string; name: string; body: { html?: string; mjml?: string; text?: string } }
  >;
};

/**
 * Reads a configuration folder: paths with `/`, relative to the folder, and the texts of the files. Pure. Every mistake
 * of every file comes at once; with any of them `resources` is incomplete and nothing may be applied.
 */
export function readConfigurationFolder(files: ReadonlyMap<string, string>, context: CheckContext): FolderReading {
  const work = sortFiles(files);
  checkWorkspaces(work, context);
  const { faults, warnings } = checkResources(
    work.read,
    context,
    (kind, workspace) => work.names.get(`${kind}:${workspace}`) ?? [],
  );
  const salvaged = work.salvaged.flatMap((resource) => faultsOfTexts(resource, work.read, context));
  const placed = (fault: Fault): FileFault => faultAt(work.sources, fault);
  return {
    resources: work.read,
    faults: inReadingOrder([...work.faults, ...[...faults, ...salvaged].map(placed)]),
    warnings: inReadingOrder(warnings.map((warning) => warningAt(work.sources, warning))),
    faultAt: placed,
    warningAt: (warning) => warningAt(work.sources, warning),
  };
}

/** Sorts the files by their role. Checks nothing beyond the shape of each file. */
function sortFiles(files: ReadonlyMap<string, string>): Work {
  const work: Work = {
    read: [],
    salvaged: [],
    sources: new Map(),
    faults: [],
    names: new Map(),
    templates: new Map(),
    layouts: new Map(),
  };
  for (const path of [...files.keys()].toSorted()) sortIn(path, files.get(path) ?? '', work);
  for (const { workspace, name, parts } of work.templates.values()) {
    const { sources, body, faults } = readTemplate(workspace, name, parts);
    work.faults.push(...faults);
    const ref: ResourceRef<'template'> = { kind: 'template', workspace, name };
    for (const { channel, locale, source } of sources)
      work.sources.set(templateSourceKey(ref, channel, locale), source);
    (faults.length > 0 ? work.salvaged : work.read).push({ ref, body });
  }
  for (const { workspace, name, body } of work.layouts.values()) {
    work.read.push({ ref: { kind: 'layout', workspace, name }, body });
  }
  return work;
}

/** The resources of some files, by the shape of each file alone, and what is wrong with that. */
export function resourcesIn(files: ReadonlyMap<string, string>): Pick<FolderReading, 'resources' | 'faults'> {
  const { read, faults } = sortFiles(files);
  return { resources: read, faults: inReadingOrder(faults) };
}

function sortIn(path: string, text: string, work: Work): void {
  const role = roleOf(path);
  switch (role.role) {
    case 'ignored':
      return;
    case 'unknown':
      wholeFile(
        work,
        path,
        'this is no file of a configuration folder',
        'carillon.yaml, workspaces/<name>/workspace.yaml, {streams,notifications,accounts,integrations,jwt-providers}/<name>.yaml, templates/<name>/{email.yaml,email.html,email.mjml,email.txt,sms.txt,push.yaml} and the same with a language (sms.de.txt), layouts/<name>.{html,mjml,txt}, partials/<name>.hbs',
        path.endsWith('.yml') ? 'call it .yaml' : 'move or rename it',
      );
      return;
    case 'bad-name':
      codedFile(work, path, { code: 'name_invalid', facts: { name: role.name, expected: SLUG_WORDS } }, 'rename it');
      return;
    case 'bad-locale':
      badLocale(work, path, role);
      return;
    case 'template-part':
      templateAt(work, role.workspace, role.name, role.locale)[role.file] = text;
      return;
    case 'layout':
      if (isThere(work, path, text)) layoutAt(work, role.workspace, role.name)[LAYOUT_FILES[role.file]] = text;
      return;
    case 'partial':
      remember(work, 'partial', role.workspace, role.name);
      work.read.push({ ref: { kind: 'partial', workspace: role.workspace, name: role.name }, body: { text } });
      return;
    case 'yaml':
      readYamlFile(role, path, text, work);
  }
}

function badLocale(work: Work, path: string, { locale, meant }: Extract<FileRole, { role: 'bad-locale' }>): void {
  const better = meant === null ? null : path.slice(path.lastIndexOf('/') + 1).replace(`.${locale}.`, `.${meant}.`);
  const coded = { code: 'language_invalid', facts: { language: locale, meant: '' } } as const;
  codedFile(work, path, coded, better === null ? 'rename it' : `call it ${better}`);
}

/** An empty file is a mistake; an empty partial is not: what comes of a file that is cleared for a while. */
function isThere(work: Work, path: string, text: string): boolean {
  if (text.trim() !== '') return true;
  const file = path.slice(path.lastIndexOf('/') + 1);
  wholeFile(work, path, `${file} is empty`, 'a layout with {{{body}}}', 'write it or remove the file');
  return false;
}

/** Reports a fault of a file's name, which is mended by renaming the file. */
function codedFile(work: Work, file: string, coded: CodedFault, fix: string): void {
  const { message, expected } = sentencesInFile(coded, { kind: 'deployment', workspace: '', name: '' }, []);
  wholeFile(work, file, message, expected, fix);
}

function wholeFile(work: Work, file: string, message: string, expected: string, fix: string): void {
  work.faults.push({ file, path: '', line: 1, column: 1, message, expected, fix });
}

function templateAt(work: Work, workspace: string, name: string, locale: string | null): TemplateFiles {
  const key = `${workspace}/${name}`;
  const parts: TemplateParts = new Map();
  const found = work.templates.get(key) ?? { workspace, name, parts };
  if (!work.templates.has(key)) remember(work, 'template', workspace, name);
  work.templates.set(key, found);
  const files = found.parts.get(locale) ?? {};
  found.parts.set(locale, files);
  return files;
}

function layoutAt(work: Work, workspace: string, name: string): { html?: string; mjml?: string; text?: string } {
  const key = `${workspace}/${name}`;
  const found = work.layouts.get(key) ?? { workspace, name, body: {} };
  if (!work.layouts.has(key)) remember(work, 'layout', workspace, name);
  work.layouts.set(key, found);
  return found.body;
}

function remember(work: Work, kind: WrittenKind, workspace: string, name: string): void {
  const key = `${kind}:${workspace}`;
  work.names.set(key, [...(work.names.get(key) ?? []), name]);
}

function readYamlFile(
  { kind, workspace, name }: Extract<FileRole, { role: 'yaml' }>,
  path: string,
  text: string,
  work: Work,
): void {
  const read = <Kind extends FileKind, To extends WrittenKind>(
    from: Kind,
    to: To,
    bodyOf: (body: FileBodies[Kind]) => ResourceBodies[To],
  ): void => {
    remember(work, to, workspace, name);
    const { source, body, value, faults } = readFile(from, path, text);
    work.faults.push(...faults);
    if (body !== undefined) return keep(work.read, { kind: to, workspace, name }, bodyOf(body), source, work);
    const salvaged = withoutFaultyValues(shapeOf(from), value, source);
    if (salvaged) keep(work.salvaged, { kind: to, workspace, name }, bodyOf(salvaged), source, work);
  };
  switch (kind) {
    case 'deployment':
      return read(kind, 'deployment', withoutStart);
    case 'workspace':
      return read(kind, 'workspace', (body) => body);
    case 'stream':
      return read(kind, 'stream', (body) => body);
    case 'notification':
      return read(kind, 'notification', (body) => body);
    case 'account':
      return read(kind, 'account', (body) => body);
    case 'jwt-provider':
      return read(kind, 'jwt_provider', (body) => body);
    case 'integration':
      return read(kind, 'integration', (body) => body);
  }
}

/** Where log and stores are is for the start of a process (start-shape.ts); the rest of carillon.yaml is configuration like any other. */
const withoutStart = (body: FileBodies['deployment']): ResourceBodies['deployment'] =>
  Object.fromEntries(Object.entries(body).filter(([key]) => key in RESOURCE_SHAPES.deployment.shape));

function keep<Kind extends WrittenKind>(
  list: WantedResource[],
  ref: ResourceRef<Kind>,
  body: ResourceBodies[Kind],
  source: YamlSource,
  { sources }: Work,
): void {
  const resource: WantedResource<Kind> = { ref, body };
  sources.set(resourceKey(ref), source);
  list.push(resource);
}

/** Checks that each folder under workspaces/ has a workspace file, so that a typing error creates no workspace. */
function checkWorkspaces(work: Work, { current }: CheckContext): void {
  const used = new Set(
    [...work.names.keys()].map((key) => key.slice(key.indexOf(':') + 1)).filter((name) => name !== ''),
  );
  for (const workspace of used) {
    if (work.names.has(`workspace:${workspace}`) || findResource(current, 'workspace', workspace, '')) continue;
    const file = fileOf('workspace', workspace, '');
    wholeFile(work, file, `the workspace ${workspace} is not there`, 'workspace.yaml', `write name: … into ${file}`);
  }
}
