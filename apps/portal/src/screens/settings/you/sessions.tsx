import { useMutation, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { api, bodyOf } from '../../../api/client.ts';
import { meQuery } from '../../../api/me.ts';
import { queryClient } from '../../../api/query-client.ts';
import { Empty, Loading, Problem } from '../../../ui/answers.tsx';
import { Button } from '../../../ui/button.tsx';
import { Curl } from '../../../ui/curl.tsx';
import { Actions, PageBody, Quiet, Row, Rows } from '../../../ui/page.tsx';
import { Lamp } from '../../../ui/state.tsx';
import { Time } from '../../../ui/time.tsx';
import { say } from '../../../ui/notices.ts';
import { SettingsHead } from '../settings-head.tsx';
import { browserName, wayWords } from './session-words.ts';

const SESSIONS = '/v1/sessions';

/** Where one is signed in; any of them can be ended from here. */
export function Sessions(): ReactNode {
  const { data: me } = useQuery(meQuery);
  return (
    <>
      <SettingsHead
        title="Sessions"
        lead="Where you are signed in. If you do not recognise a session, set a new password, which ends all other sessions."
      />
      <PageBody>
        {me && me.session === null ? (
          <Empty title="No session">A token has no sessions. Sign in as a person to see yours.</Empty>
        ) : (
          <SessionList />
        )}
      </PageBody>
    </>
  );
}

function SessionList(): ReactNode {
  const { data, error, refetch } = useQuery({
    queryKey: [SESSIONS],
    queryFn: ({ signal }) => bodyOf(api.GET(SESSIONS, { signal })),
  });
  const again = () => queryClient.invalidateQueries({ queryKey: [SESSIONS] });
  const endOne = useMutation({
    mutationFn: (id: string) => bodyOf(api.DELETE('/v1/sessions/{id}', { params: { path: { id } } })),
    onSuccess: () => say('The session has ended.'),
    onSettled: again,
  });
  const endOthers = useMutation({
    mutationFn: () => bodyOf(api.DELETE(SESSIONS)),
    onSuccess: ({ ended }) => say(ended === 1 ? 'One session has ended.' : `${ended} sessions have ended.`),
    onSettled: again,
  });
  const others = data?.items.filter(({ current }) => !current).length ?? 0;
  const refused = endOne.error ?? endOthers.error;
  return (
    <>
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {refused && <Problem error={refused} />}
      {!data && !error && <Loading what="sessions" rows={3} />}
      {data && (
        <Rows label="Sessions">
          {data.items.map(({ id, current, way, address, agent, created_at, used_at }) => (
            <Row key={id}>
              <div>
                <h2>{browserName(agent)}</h2>
                <Quiet>
                  From {address} · by {wayWords(way)}, <Time at={created_at} /> · last used <Time at={used_at} />
                </Quiet>
              </div>
              {current ? (
                <Lamp tone="good">This session</Lamp>
              ) : (
                <Actions>
                  <Button
                    kind="danger"
                    isDisabled={endOne.isPending && endOne.variables === id}
                    onPress={() => endOne.mutate(id)}
                    aria-label={`End session of ${browserName(agent)} from ${address}`}
                  >
                    End session
                  </Button>
                </Actions>
              )}
            </Row>
          ))}
        </Rows>
      )}
      <Actions>
        <Button
          kind="danger"
          off={others === 0 ? 'This is the only session.' : null}
          isDisabled={endOthers.isPending}
          onPress={() => endOthers.mutate()}
        >
          End all other sessions
        </Button>
      </Actions>
      <Curl
        calls={[
          { method: 'DELETE', path: SESSIONS },
          { method: 'DELETE', path: `${SESSIONS}/<id>` },
        ]}
      />
    </>
  );
}
