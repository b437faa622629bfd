import { ruleWaitingBody } from '@carillon/contracts';
import { ruleTitle } from '@carillon/domain/configuration';
import { formatInstant } from '@carillon/kernel';
import { visibleScopeOf } from '../../access/visible-scope.ts';
import { createLateEventsOf, type LateCheckPorts } from '../../late-checks.ts';
import { canWait, countWaiting, type WaitingPorts } from '../../waiting-entities.ts';
import { withNameAcross, type ApiServer } from '../app.ts';
import { ruleInSight } from './rules.ts';

/** How many entities wait by a published rule, the next deadline, and how many events came late. */
export function ruleWaitingRoute(app: ApiServer, ports: WaitingPorts & LateCheckPorts): void {
  const lateEventsOf = createLateEventsOf(ports);
  app.get(
    '/v1/workspaces/:workspace/rules/:name/waiting',
    {
      config: { permission: 'read', across: true, problems: ['not_found'] },
      schema: {
        operationId: 'countWaitingEntities',
        tags: ['Rules'],
        summary: 'How many entities wait by a rule, the next deadline, and how many events came late',
        params: withNameAcross,
        response: { 200: ruleWaitingBody },
      },
    },
    async (request) => {
      const placed = ruleInSight(request.params.name, visibleScopeOf(request), ports.configuration.current());
      const { count, nextDue } = await countWaiting(placed, ports);
      return {
        rule: ruleTitle(placed),
        can_wait: canWait(placed),
        entities: count,
        next_deadline: nextDue === null ? null : formatInstant(nextDue),
        late_events: await lateEventsOf(placed),
      };
    },
  );
}
