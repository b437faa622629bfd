import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Schemas } from '../../api/client.ts';
import { useNow } from '../../ui/now.ts';
import { Card, Quiet, Row, Rows } from '../../ui/page.tsx';
import { Lamp } from '../../ui/state.tsx';
import { Time } from '../../ui/time.tsx';
import { waitingEventsQuery, waitingPartnersQuery } from './queries.ts';

type Partner = Schemas['WaitingPartner'];

/** Such as "crm has not answered since 07:08, 1 event waits, next attempt 07:15". */
export function PartnerWords({ partner }: { readonly partner: Partner }): ReactNode {
  const { integration, events, complete, failing_since: since, last_failure: last, next_attempt_at: next } = partner;
  const waits = `${events.toLocaleString('en')}${complete ? '' : ' or more'} ${events === 1 ? 'event waits' : 'events wait'}`;
  if (since === null) return `${waits} for the first answer of ${integration}`;
  return (
    <>
      {integration} has not answered since <Time at={since} />
      {last && ` (${last.detail})`}, {waits}, <NextAttempt at={next} />
    </>
  );
}

function NextAttempt({ at }: { readonly at: string }): ReactNode {
  const now = useNow();
  if (Date.parse(at) <= now) return 'a call is under way';
  return (
    <>
      next attempt <Time at={at} />
    </>
  );
}

/** The partners of a workspace that do not answer, above the list of integrations. */
export function SilentPartners({ workspace }: { readonly workspace: string }): ReactNode {
  const { data } = useQuery(waitingPartnersQuery(workspace));
  const silent = data?.items.filter(({ failing_since: since }) => since !== null) ?? [];
  if (silent.length === 0) return null;
  return (
    <Rows label="Partners that do not answer">
      {silent.map((partner) => (
        <Row key={`${partner.workspace}/${partner.integration}`}>
          <Link
            to="/workspaces/$w/integrations/$i"
            params={{ w: partner.workspace, i: partner.integration }}
            hash="waiting"
          >
            <PartnerWords partner={partner} />
          </Link>
          <Lamp tone="bad">No answer</Lamp>
        </Row>
      ))}
    </Rows>
  );
}

/** The events that wait for a partner, the longest first. */
export function WaitingEvents({ workspace, name }: { readonly workspace: string; readonly name: string }): ReactNode {
  const partners = useQuery(waitingPartnersQuery(workspace));
  const { data } = useQuery(waitingEventsQuery(workspace, name));
  const partner = partners.data?.items.find((one) => one.integration === name);
  if (!partner || !data) return null;
  return (
    <Card title="Waiting events">
      <p id="waiting">
        <PartnerWords partner={partner} />
      </p>
      <Rows label="Waiting events">
        {data.items.map((event) => (
          <Row key={event.trigger_id}>
            <span>
              {event.event_id === null ? (
                event.trigger_id
              ) : (
                <Link to="/workspaces/$w/events/$id" params={{ w: workspace, id: event.event_id }}>
                  {event.event_id}
                </Link>
              )}
              <Quiet>
                {event.rule} · {event.user_ids === 1 ? '1 user id' : `${event.user_ids} user ids`} ·{' '}
                {event.calls === 1 ? '1 call' : `${event.calls} calls`}
                {event.last_call && `, the last: ${event.last_call.detail}`}
                {event.gives_up_at !== null && (
                  <>
                    {' · given up '}
                    <Time at={event.gives_up_at} />
                  </>
                )}
              </Quiet>
            </span>
            <span>
              <NextAttempt at={event.next_attempt_at} />
            </span>
          </Row>
        ))}
      </Rows>
      {data.next !== null && <Quiet>Only the first 100 waiting events are listed.</Quiet>}
    </Card>
  );
}
