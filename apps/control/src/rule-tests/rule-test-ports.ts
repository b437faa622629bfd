import type { RoutePorts } from '../ports.ts';

/** Ports of a test of a rule. A test only reads. */
export type RuleTestPorts = Pick<
  RoutePorts,
  'slice' | 'ids' | 'templates' | 'links' | 'book' | 'partners' | 'secrets'
> & {
  readonly configuration: Pick<RoutePorts['configuration'], 'current'>;
  readonly ledger: Pick<RoutePorts['ledger'], 'get'>;
};
