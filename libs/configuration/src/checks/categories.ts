import { similarTo } from '@carillon/kernel';
import { findResource, type Configuration } from '@carillon/domain/configuration';
import { categoriesUsed } from '@carillon/domain/consent';
import { isKind, type WantedResource } from '../resource.ts';
import { type Fault, reportOn } from './finding.ts';
import type { Check } from './check-context.ts';

/** Checks that a notification names a category of the workspace, and that former category names are not in use. */
export const checkCategories: Check = (resource, around, report) => {
  if (isKind(resource, 'workspace')) {
    const categories = resource.body.categories ?? {};
    const renamed = new Map<string, string>();
    for (const [name, { was = [] }] of Object.entries(categories)) {
      for (const [index, old] of was.entries()) {
        const holder = old in categories ? old : renamed.get(old);
        renamed.set(old, name);
        if (holder === undefined) continue;
        report.fault(['categories', name, 'was', index], {
          code: 'category_name_taken',
          facts: { category: old, holder },
        });
      }
    }
  }
  if (!isKind(resource, 'notification') || resource.body.category === undefined) return;
  const { category } = resource.body;
  const { workspace } = resource.ref;
  const body = around.workspace(workspace);
  if (!body || category in (body.categories ?? {})) return;
  const known = Object.keys(body.categories ?? {});
  const now = Object.entries(body.categories ?? {}).find(([, { was = [] }]) => was.includes(category))?.[0];
  const meant = now ?? similarTo(category, known);
  report.fault(['category'], {
    code: 'category_unknown',
    facts: { category, meant: meant ?? '', known: known.join(' or ') },
  });
};

/**
 * Reports removed categories. Removing a category would lose the opt-outs under its name, so the name stays or becomes
 * a former name of another category. Names that notifications used before there were categories count too.
 */
export function keptCategories(
  current: Configuration,
  { ref, body }: WantedResource<'workspace'>,
  faults: Fault[],
): void {
  const before = findResource(current, 'workspace', ref.workspace, ref.name)?.body.categories ?? {};
  const namesIn = (categories: NonNullable<typeof body.categories>): readonly string[] =>
    Object.entries(categories).flatMap(([name, { was = [] }]) => [name, ...was]);
  const after = new Set(namesIn(body.categories ?? {}));
  for (const name of new Set([...namesIn(before), ...categoriesUsed(current, ref.workspace)])) {
    if (after.has(name)) continue;
    const coded = { code: 'category_removed', facts: { category: name } } as const;
    reportOn(ref, faults, []).fault(['categories'], coded, 'key');
  }
}
