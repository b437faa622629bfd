import { withNamedRetention } from '@carillon/contracts';
import { namedRetention } from '@carillon/domain/configuration';
import type { Duration } from '@carillon/kernel';
import type { FollowedConfiguration } from '@carillon/stages';
import type { Backend } from './backend.ts';

type Kept = {
  readonly backend: Pick<Backend, 'kind' | 'defaultRetention'>;
  readonly configuration: Pick<FollowedConfiguration, 'current'>;
};

/** Returns how long the log keeps an open dead letter. Null in a data folder, which keeps each until a person redrives or dismisses it. */
export function deadLettersKept({ backend, configuration }: Kept): Duration | null {
  if (backend.kind === 'embedded') return null;
  return withNamedRetention(namedRetention(configuration.current()), backend.defaultRetention)['carillon.dead-letters'];
}
