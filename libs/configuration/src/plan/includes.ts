import { EMPTY_CONFIGURATION, resourceKey } from '@carillon/domain/configuration';
import { putInsOf, type TemplateIncludes } from '@carillon/domain/templates';
import { includesIn } from '../checks/check-resources.ts';
import { type Fault, faultIn, reportOn, type Warning } from '../checks/finding.ts';
import type { TemplateCheck } from '../checks/check-context.ts';
import { checkTemplate, type TemplateSurroundings } from '../checks/templates.ts';
import { isKind, type WantedResource } from '../resource.ts';
import type { PlannedChange } from './planned.ts';

/** Layouts and partials of a workspace among all that will be there. */
export const includesOf = (all: readonly WantedResource[], workspace: string): TemplateIncludes =>
  includesIn(all, workspace, EMPTY_CONFIGURATION);

/** Returns the layouts and partials of a template, by `resourceKey`. */
function putInKeys({ ref, body }: WantedResource<'template'>, all: readonly WantedResource[]): ReadonlySet<string> {
  const { workspace } = ref;
  const { layouts, partials } = putInsOf(body, includesOf(all, workspace));
  return new Set([
    ...layouts.map((name) => resourceKey({ kind: 'layout', workspace, name })),
    ...partials.map((name) => resourceKey({ kind: 'partial', workspace, name })),
  ]);
}

/** Adds to each changed layout and partial the templates that it affects. */
export function withUsers(
  changes: readonly PlannedChange[],
  staying: readonly WantedResource[],
): readonly PlannedChange[] {
  const changed = changes.filter(({ ref, action }) => isPutIn(ref.kind) && action === 'update');
  if (changed.length === 0) return changes;
  const templates = staying.filter((item) => isKind(item, 'template'));
  const users = templates.map((item) => ({ ref: item.ref, keys: putInKeys(item, staying) }));
  return changes.map((change) => {
    if (!changed.includes(change)) return change;
    const key = resourceKey(change.ref);
    const names = users.flatMap(({ ref, keys }) => (keys.has(key) ? [ref.name] : []));
    const note = names.length === 0 ? 'no template uses it' : `changes ${wordsFor(names)}`;
    return { ...change, notes: [...change.notes, note] };
  });
}

const isPutIn = (kind: string): boolean => kind === 'layout' || kind === 'partial';
const wordsFor = (names: readonly string[]): string =>
  `${names.length === 1 ? 'the template' : `${names.length} templates:`} ${names.join(', ')}`;

/** Checks templates outside the folder that include a layout or partial of the folder. */
export function checkUnchangedIncludes(
  staying: readonly WantedResource[],
  beside: ReadonlySet<WantedResource>,
  templates: TemplateCheck,
  faults: Fault[],
  warnings: Warning[],
): void {
  const wanted = staying.filter((item) => isPutIn(item.ref.kind) && !beside.has(item));
  if (wanted.length === 0) return;
  const wantedKeys = new Set(wanted.map(({ ref }) => resourceKey(ref)));
  for (const item of staying) {
    if (!isKind(item, 'template') || !beside.has(item)) continue;
    const keys = putInKeys(item, staying);
    const [first] = [...keys].filter((key) => wantedKeys.has(key));
    if (first === undefined) continue;
    const own: Fault[] = [];
    const around: TemplateSurroundings = {
      templates,
      current: EMPTY_CONFIGURATION,
      names: (kind, workspace) =>
        staying.flatMap(({ ref }) => (ref.kind === kind && ref.workspace === workspace ? [ref.name] : [])),
      includes: (workspace) => includesOf(staying, workspace),
      reportOn: (ref) => reportOn(ref, own, warnings),
    };
    checkTemplate(item, around, reportOn(item.ref, own, []));
    // The template is in no file, so its mistakes are shown at the change.
    const change = wanted.find(({ ref }) => resourceKey(ref) === first) as WantedResource;
    for (const fault of own) {
      const { message, fix } = fault;
      const coded = { code: 'breaks_template', facts: { template: item.ref.name, message, fix } } as const;
      const isOfTemplate = fault.ref.kind === 'template';
      faults.push(isOfTemplate ? faultIn(change.ref, Object.keys(change.body).slice(0, 1), coded) : fault);
    }
  }
}
