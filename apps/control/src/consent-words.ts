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

/** Names of consent targets. Notifications are stored by id, so that a rename keeps opt-outs. */
export type TargetNames = {
  /**
   * Returns the target of a kind and name, or a fault. A category may be given by a former name, and a notification by
   * its id, even if it was removed.
   */
  target(kind: ConsentTarget['kind'], name: string): ConsentTarget | { readonly fault: string };
  /** Returns the target under every name that opt-outs may use, because a category may have had former names. */
  everyName(target: ConsentTarget): readonly ConsentTarget[];
  /** Returns the name of a target's notification or category. Null for the target *all*, and if it no longer exists. */
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
      if (kind === 'all') return name === '' ? { kind } : { fault: 'kind all takes no name' };
      if (name === '') return { fault: `the name of the ${kind} is missing` };
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

/** Returns a person's document as the API shows it. `null` stands for no document. */
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
