import { findResource, type IntegrationBody, type ResourceKind } from '@carillon/domain';
import { checkExpressions } from '../checks/expressions.ts';
import { checkReferences } from '../checks/references.ts';
import { checkIdentities } from '../checks/identities.ts';
import type { DesiredResource, FileResourceKind, FolderReading, ReadingContext } from './desired.ts';
import { laterFile } from './later.ts';
import { fileOf, roleOf } from './layout.ts';
import { type FileFault, type FileWarning, inReadingOrder } from './place.ts';
import { readFile } from './read-file.ts';
import { salvageRules } from './salvage.ts';
import { readTemplate, type TemplateParts } from './read-template.ts';
import { SLUG_WORDS } from '@carillon/shapes';
import type { FileKind } from '@carillon/shapes';
import type { YamlSource } from './yaml-source.ts';

type ReadResource = { readonly resource: DesiredResource; readonly source: YamlSource };
type Work = {
  readonly read: ReadResource[];
  /** Parts of files with mistakes: only their expressions are checked. */
  readonly salvaged: ReadResource[];
  readonly faults: FileFault[];
  readonly warnings: FileWarning[];
  /** Names by kind and workspace, of files with mistakes too: those are not missing. */
  readonly names: Map<string, string[]>;
  readonly templates: Map<string, { workspace: string; name: string; parts: TemplateParts }>;
};

const KINDS = {
  deployment: 'deployment',
  workspace: 'workspace',
  stream: 'stream',
  notification: 'notification',
  account: 'account',
  'jwt-provider': 'jwt_provider',
  integration: 'integration',
} as const satisfies Partial<Record<FileKind, FileResourceKind>>;

/**
 * Reads a configuration folder: paths with `/`, relative to the folder, and the texts of the files. Pure. Every mistake
 * of every file comes at once; with any of them `resources` is incomplete and nothing may be applied.
 */
export function readConfigurationFolder(files: ReadonlyMap<string, string>, context: ReadingContext): FolderReading {
  const work: Work = { read: [], salvaged: [], faults: [], warnings: [], names: new Map(), templates: new Map() };
  for (const path of [...files.keys()].toSorted()) sortIn(path, files.get(path) ?? '', work);
  for (const { workspace, name, parts } of work.templates.values()) {
    const { source, email, faults, warnings } = readTemplate(workspace, name, parts, context.templates);
    work.faults.push(...faults);
    work.warnings.push(...warnings);
    if (source && email) keep(work, 'template', workspace, name, { email }, source);
  }
  checkWorkspaces(work, context);
  const around = {
    current: context.current,
    names: (kind: ResourceKind, workspace: string) => work.names.get(`${kind}:${workspace}`) ?? [],
    integration: (workspace: string, name: string) => integrationIn(work, context, workspace, name),
  };
  for (const { resource, source } of work.read) {
    checkExpressions(resource, source, context.language, work);
    checkReferences(resource, source, around, work);
  }
  for (const { resource, source } of work.salvaged) {
    checkExpressions(resource, source, context.language, { faults: work.faults, warnings: [] });
  }
  checkIdentities(work.read, work.faults);
  return {
    resources: work.read.map(({ resource }) => resource),
    start: { backend: 'embedded' },
    faults: inReadingOrder(work.faults),
    warnings: inReadingOrder(work.warnings),
  };
}

function integrationIn(work: Work, { current }: ReadingContext, workspace: string, name: string) {
  const read = work.read.find(
    ({ resource: { ref } }) => ref.kind === 'integration' && ref.workspace === workspace && ref.name === name,
  );
  if (read) return read.resource.body as IntegrationBody;
  return findResource(current, 'integration', workspace, name)?.body;
}

function sortIn(path: string, text: string, work: Work): void {
  const later = laterFile(path);
  if (later !== null) {
    wholeFile(
      work,
      path,
      `this file comes in a later version (${later})`,
      'only what this version reads',
      'remove it until then',
    );
    return;
  }
  const role = roleOf(path);
  switch (role.role) {
    case 'ignored':
      return;
    case 'unknown':
      wholeFile(
        work,
        path,
        'this is no file of a configuration folder',
        'carillon.yaml, workspaces/<name>/workspace.yaml, {streams,notifications,accounts,integrations,jwt-providers}/<name>.yaml, templates/<name>/email.{yaml,html,txt}',
        path.endsWith('.yml') ? 'call it .yaml' : 'move or rename it',
      );
      return;
    case 'bad-name':
      wholeFile(work, path, `the name ${JSON.stringify(role.name)} cannot be used`, SLUG_WORDS, 'rename it');
      return;
    case 'template-part':
      templateAt(work, role.workspace, role.name)[role.part] = text;
      return;
    case 'yaml':
      if (role.kind === 'email-template') templateAt(work, role.workspace, role.name).yaml = text;
      else readResource(role.kind, path, text, role.workspace, role.name, work);
  }
}

function wholeFile(work: Work, file: string, message: string, expected: string, fix: string): void {
  work.faults.push({ file, path: '', line: 1, column: 1, message, expected, fix });
}

function templateAt(work: Work, workspace: string, name: string): TemplateParts {
  const key = `${workspace}/${name}`;
  const found = work.templates.get(key) ?? { workspace, name, parts: {} };
  if (!work.templates.has(key)) remember(work, 'template', workspace, name);
  work.templates.set(key, found);
  return found.parts;
}

function remember(work: Work, kind: ResourceKind, workspace: string, name: string): void {
  const key = `${kind}:${workspace}`;
  work.names.set(key, [...(work.names.get(key) ?? []), name]);
}

function readResource(
  fileKind: keyof typeof KINDS,
  path: string,
  text: string,
  workspace: string,
  name: string,
  work: Work,
): void {
  const kind = KINDS[fileKind];
  remember(work, kind, workspace, name);
  const { source, body, value, faults } = readFile(fileKind, path, text);
  work.faults.push(...faults);
  const salvaged = body === undefined && fileKind === 'notification' ? salvageRules(value, source) : undefined;
  if (salvaged !== undefined) work.salvaged.push(resourceOf(kind, workspace, name, salvaged, source));
  if (body === undefined) return;
  keep(work, kind, workspace, name, kind === 'deployment' ? withoutStart(body) : body, source);
}

/** Where log and stores are is for the start of a process (start-shape.ts); the rest of carillon.yaml is configuration like any other. */
function withoutStart(body: unknown): object {
  const { accounts } = body as { readonly accounts?: object };
  return accounts === undefined ? {} : { accounts };
}

function keep(
  work: Work,
  kind: FileResourceKind,
  workspace: string,
  name: string,
  body: unknown,
  source: YamlSource,
): void {
  work.read.push(resourceOf(kind, workspace, name, body, source));
}

function resourceOf(
  kind: FileResourceKind,
  workspace: string,
  name: string,
  body: unknown,
  source: YamlSource,
): ReadResource {
  const ref = { kind, workspace, name };
  const place: DesiredResource['place'] = (path) => source.valuePlace(path);
  return { resource: { ref, body, file: source.file, place } as DesiredResource, source };
}

/** Each folder under workspaces/ is a workspace; its file says so, lest a typing error makes a new one. */
function checkWorkspaces(work: Work, { current }: ReadingContext): void {
  const used = new Set(
    [...work.names.keys()].map((key) => key.slice(key.indexOf(':') + 1)).filter((name) => name !== ''),
  );
  for (const workspace of used) {
    if (work.names.has(`workspace:${workspace}`) || findResource(current, 'workspace', workspace, '')) continue;
    const file = fileOf('workspace', workspace, '');
    wholeFile(work, file, `the workspace ${workspace} is not there`, 'workspace.yaml', `write name: … into ${file}`);
  }
}
