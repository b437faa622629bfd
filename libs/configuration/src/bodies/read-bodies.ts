import {
  canonical,
  findResource,
  resourceKey,
  type ResourceBodies,
  type ResourceRef,
} from '@carillon/domain/configuration';
import { codeAndFacts, type CodedFault } from '@carillon/kernel';
import { FILE_SHAPES, RESOURCE_SHAPES, SLUG, SLUG_WORDS } from '@carillon/shapes';
import { runToCompletion, type Coroutine } from '@carillon/kernel';
import type { z } from 'zod';
import { checkResourcesCoroutine } from '../checks/check-resources.ts';
import { type Fault, faultIn, reportOn } from '../checks/finding.ts';
import { faultsOfTexts } from '../checks/salvaged.ts';
import type { CheckContext } from '../checks/check-context.ts';
import { FILE_KINDS } from '../files/layout.ts';
import { mistakesOf, shapeFault } from '../files/mistakes.ts';
import type { ShapeFault } from '../files/place.ts';
import { parseAsWritten, withoutLater } from '../files/read-file.ts';
import { resourcesIn } from '../files/read-folder.ts';
import { withoutFaultyValues } from '../files/without-faulty-values.ts';
import { resourceFiles } from '../files/write-folder.ts';
import type { PlacedSource } from '../files/yaml-source.ts';
import { isKind, type WantedResource, type WrittenKind } from '../resource.ts';
import { isGroup } from '../value-path.ts';
import { oddBody } from './body-bounds.ts';
import { resourceFault, type ResourceFault, type ResourceWarning, resourceWarning } from './resource-fault.ts';
import { checkTemplateBody, writtenTemplate } from './template-body.ts';

/** A resource as a client sends it. The body may be any JSON value. */
export type GivenResource = { readonly ref: ResourceRef<WrittenKind>; readonly body: unknown };

export type BodiesReading = {
  readonly resources: readonly WantedResource[];
  /** All mistakes, in the order of what was given. With any of them nothing may be published. */
  readonly faults: readonly ResourceFault[];
  readonly warnings: readonly ResourceWarning[];
};

type Work = {
  readonly read: WantedResource[];
  /** Parts of bodies with mistakes: only their expressions and templates are checked. */
  readonly salvaged: WantedResource[];
  readonly faults: ResourceFault[];
};

/**
 * Reads bodies as `readConfigurationFolder` reads files: the same shapes, the same checks, the same words, every mistake of
 * every body at once. What comes out can be written into files that read back as the very same. Pure.
 */
export const readResourceBodies = (given: readonly GivenResource[], context: CheckContext): BodiesReading =>
  runToCompletion(readResourceBodiesCoroutine(given, context));

/** Does the work of `readResourceBodies`, and yields after each body. */
export function* readResourceBodiesCoroutine(
  given: readonly GivenResource[],
  context: CheckContext,
): Coroutine<BodiesReading> {
  const work: Work = { read: [], salvaged: [], faults: [] };
  const seen = new Set<string>();
  for (const one of given) {
    const key = resourceKey(one.ref);
    if (seen.has(key)) whole(one.ref, work, { code: 'given_twice', facts: {} });
    else readOne(one, work);
    seen.add(key);
    yield;
  }
  checkWorkspaces(given, context, work);
  const namesOf = (kind: string, workspace: string): readonly string[] =>
    given.flatMap(({ ref }) => (ref.kind === kind && ref.workspace === workspace ? [ref.name] : []));
  const { faults, warnings } = yield* checkResourcesCoroutine(work.read, context, namesOf);
  const ofTexts: Fault[] = [];
  for (const resource of work.salvaged) {
    ofTexts.push(...faultsOfTexts(resource, work.read, context));
    yield;
  }
  const order = new Map(given.map(({ ref }, at) => [resourceKey(ref), at]));
  const place = ({ ref }: { readonly ref: ResourceRef }): number => order.get(resourceKey(ref)) ?? given.length;
  return {
    resources: work.read,
    faults: [...work.faults, ...[...faults, ...ofTexts].map(resourceFault)].toSorted((a, b) => place(a) - place(b)),
    warnings: warnings.map(resourceWarning),
  };
}

function whole(ref: ResourceRef, { faults }: Work, coded: CodedFault): void {
  faults.push(resourceFault(faultIn(ref, [], coded)));
}

/** Kinds without a name of their own: of the deployment there is one, and of a workspace its own settings. */
const UNNAMED: ReadonlySet<WrittenKind> = new Set(['deployment', 'workspace']);

function readOne({ ref, body }: GivenResource, work: Work): void {
  const { kind, workspace, name } = ref;
  for (const [called, free] of [
    [workspace, kind === 'deployment'],
    [name, UNNAMED.has(kind)],
  ] as const) {
    if (free ? called === '' : SLUG.test(called)) continue;
    return whole(ref, work, { code: 'name_invalid', facts: { name: called, expected: SLUG_WORDS } });
  }
  if (!isGroup(body)) return whole(ref, work, { code: 'not_a_body', facts: {} });
  const odd = oddBody(body);
  const own: Fault[] = [];
  if (odd) own.push(faultIn(ref, odd.path, odd.coded));
  if (odd === undefined) readByShape(ref, body, own, work);
  work.faults.push(...own.map(resourceFault));
}

/** Everything is at its beginning: where something stands in a JSON body is said by its path. */
const IN_A_BODY: PlacedSource & { readonly plainText: () => null } = {
  file: '',
  keyPlace: () => ({ line: 1, column: 1 }),
  valuePlace: () => ({ line: 1, column: 1 }),
  meantText: () => null,
  plainText: () => null,
};

function readByShape(ref: ResourceRef<WrittenKind>, given: Record<string, unknown>, own: Fault[], work: Work): void {
  const { kind } = ref;
  const shape: z.ZodType<ResourceBodies[WrittenKind]> = RESOURCE_SHAPES[kind];
  const told: ShapeFault[] = [];
  const kept = kind === 'deployment' ? withoutStart(given, told) : given;
  const value = hasFileKind(kind) ? withoutLater(FILE_KINDS[kind], kept, [], IN_A_BODY, told) : kept;
  const parsed = parseAsWritten(shape, value, IN_A_BODY);
  const paths = new Set(told.map(({ path }) => path));
  const mistakes = parsed.success ? [] : mistakesOf(parsed.error.issues, value, IN_A_BODY);
  told.push(...mistakes.filter(({ path }) => !paths.has(path) || path === ''));
  for (const fault of told) {
    const { path, message, expected, fix } = fault;
    work.faults.push({ ...codeAndFacts(fault), ref, path, line: null, column: null, message, expected, fix });
  }
  if (!parsed.success || told.length > 0) {
    const rest = withoutFaultyValues(shape, value, IN_A_BODY);
    if (rest) work.salvaged.push({ ref, body: rest });
    return;
  }
  const resource: WantedResource = { ref, body: parsed.data };
  const { body } = resource;
  if (isKind(resource, 'template')) {
    checkTemplateBody(resource.body, reportOn(ref, own, []));
    if (own.length > 0) return void work.salvaged.push(resource);
    return keep({ ref, body: writtenTemplate(resource.body) }, own, work);
  }
  if (isKind(resource, 'layout')) {
    for (const [part, text] of Object.entries(resource.body)) {
      if (text.trim() !== '') continue;
      own.push(faultIn(ref, [part], { code: 'text_empty', facts: { part } }));
    }
  }
  if (own.length === 0) keep({ ref, body }, own, work);
}

const hasFileKind = (kind: WrittenKind): kind is keyof typeof FILE_KINDS => Object.hasOwn(FILE_KINDS, kind);

/** Takes out, and reports, what of carillon.yaml only the start of a process reads. */
function withoutStart(given: Record<string, unknown>, faults: ShapeFault[]): Record<string, unknown> {
  const isOfStart = (key: string): boolean =>
    Object.hasOwn(FILE_SHAPES.deployment.shape, key) && !Object.hasOwn(RESOURCE_SHAPES.deployment.shape, key);
  for (const path of Object.keys(given).filter(isOfStart)) {
    const facts = { setting: path, known: Object.keys(RESOURCE_SHAPES.deployment.shape).join(', ') };
    faults.push(shapeFault(IN_A_BODY, [path], 'key', { code: 'read_at_start', facts }));
  }
  return Object.fromEntries(Object.entries(given).filter(([key]) => !isOfStart(key)));
}

/** Keeps what can be written into files that read back as the same: else `export` would write what `apply` refuses or changes. */
function keep(resource: WantedResource, own: Fault[], work: Work): void {
  const { resources, faults } = resourcesIn(resourceFiles(resource));
  const [fault] = faults;
  const [read] = resources;
  if (fault === undefined && read && canonical(read.body) === canonical(resource.body)) {
    work.read.push(resource);
    return;
  }
  const why = fault?.message ?? '';
  own.push(faultIn(resource.ref, [], { code: 'control_characters', facts: { why } }));
}

/** Checks that each resource belongs to a workspace that exists, or is created with it. */
function checkWorkspaces(given: readonly GivenResource[], { current }: CheckContext, work: Work): void {
  const coming = new Set(given.flatMap(({ ref }) => (ref.kind === 'workspace' ? [ref.workspace] : [])));
  for (const { ref } of given) {
    const { kind, workspace } = ref;
    if (kind === 'deployment' || coming.has(workspace) || !SLUG.test(workspace)) continue;
    if (findResource(current, 'workspace', workspace, '')) continue;
    whole(ref, work, { code: 'workspace_unknown', facts: { workspace } });
  }
}
