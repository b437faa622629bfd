import type { RoutePorts } from '../ports.ts';

/** What a test of a rule needs. It writes nothing. */
export type RuleTestPorts = Pick<
  RoutePorts,
  'slice' | 'ids' | 'templates' | 'links' | 'book' | 'partners' | 'secrets'
> & {
  readonly configuration: Pick<RoutePorts['configuration'], 'current'>;
  readonly ledger: Pick<RoutePorts['ledger'], 'get'>;
};
