import type { ConsentBody } from '@carillon/contracts';
import { findResource, listResources, notificationIdOf, type Configuration } from '@carillon/domain/configuration';
import {
  categoriesUsed,
  categoryOf,
  namesOfCategory,
  nameOfTarget,
  type Consents,
  type ConsentTarget,
  type ConsentEntry,
} from '@carillon/domain/consent';
import { formatInstant, isId } from '@carillon/kernel';
import { insteadOf } from './names.ts';

/** Targets as people name them. A notification is kept under its id, so that a rename keeps what was said about it. */
export type TargetNames = {
  /**
   * The target of a kind and a name, or why there is none. A category may be named as it was before; a notification by its id too, also
   * where it is gone.
   */
  target(kind: ConsentTarget['kind'], name: string): ConsentTarget | { readonly fault: string };
  /** The target under every name under which something may have been said about it: a category may have had others. */
  everyName(target: ConsentTarget): readonly ConsentTarget[];
  /** The name of a target's notification or category; null of all, and of what is gone. */
  nameOf(target: ConsentTarget): string | null;
  /** Notifications that nobody can opt out of. */
  readonly exempt: readonly string[];
};

export function targetNames(configuration: Configuration, workspace: string): TargetNames {
  const notifications = listResources(configuration, 'notification', workspace);
  const idOf = new Map(notifications.map((one) => [one.ref.name, notificationIdOf(one)]));
  const byId = new Map(notifications.map((one) => [notificationIdOf(one), one.ref.name]));
  const declared = Object.keys(findResource(configuration, 'workspace', workspace, '')?.body.categories ?? {});
  const categories = [...new Set([...declared, ...categoriesUsed(configuration, workspace)])];
  const exempt = notifications.filter(({ body }) => body.transactional === true).map(({ ref }) => ref.name);
  return {
    exempt: exempt.toSorted(),
    target(kind, name) {
      if (kind === 'all') return name === '' ? { kind } : { fault: 'of all there is no name' };
      if (name === '') return { fault: `it names no ${kind}` };
      if (kind === 'notification') {
        // Choices about a removed notification are imported too, and apply if it is restored.
        const id = idOf.get(name) ?? (byId.has(name) || isId('notification', name) ? name : undefined);
        return id === undefined ? unknown(kind, name, [...idOf.keys()]) : { kind, name: id };
      }
      const now = categoryOf(configuration, workspace, name).name;
      return categories.includes(now) ? { kind, name: now } : unknown(kind, name, categories);
    },
    everyName(target) {
      if (target.kind !== 'category') return [target];
      const names = namesOfCategory(categoryOf(configuration, workspace, target.name));
      return names.map((name) => ({ kind: 'category', name }));
    },
    nameOf(target) {
      if (target.kind === 'all') return null;
      if (target.kind === 'notification') return byId.get(target.name) ?? null;
      return categoryOf(configuration, workspace, target.name).name;
    },
  };
}

const unknown = (kind: string, name: string, known: readonly string[]) => ({
  fault: `there is no ${kind} ${name}; ${insteadOf(name, known)}`,
});

const byTarget = (a: ConsentEntry, b: ConsentEntry): number =>
  a.target.kind.localeCompare(b.target.kind) || nameOfTarget(a.target).localeCompare(nameOfTarget(b.target));

export const showWord = (word: ConsentEntry, names: Pick<TargetNames, 'nameOf'>): ConsentBody['words'][number] => ({
  target: word.target.kind,
  name: names.nameOf(word.target),
  notification_id: word.target.kind === 'notification' ? word.target.name : null,
  channel: word.channel,
  opted_out: word.optedOut,
  way: word.way,
  by: word.by ?? null,
  at: formatInstant(word.at),
});

/** A person's document as it is shown; `null` where there is none. */
export function showConsents(
  workspace: string,
  person: string,
  document: Consents | null,
  names: TargetNames,
): ConsentBody {
  const words = (document?.words ?? []).toSorted(byTarget).map((word) => showWord(word, names));
  const updatedAt = document ? formatInstant(document.updatedAt) : null;
  return { workspace, person, words, exempt: [...names.exempt], updated_at: updatedAt };
}
