import { useMutation, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { api, bodyOf } from '../../../api/client.ts';
import { queryClient } from '../../../api/query-client.ts';
import { Problem } from '../../../ui/answers.tsx';
import { Button } from '../../../ui/button.tsx';
import { Curl } from '../../../ui/curl.tsx';
import { Actions, Quiet, Row, Rows } from '../../../ui/page.tsx';
import { Time } from '../../../ui/time.tsx';
import { say } from '../../../ui/notices.ts';
import { INVITATIONS } from './queries.ts';

/** Who was invited and has not come yet. */
export function Invitations(): ReactNode {
  const { data, error, refetch } = useQuery({
    queryKey: [INVITATIONS],
    queryFn: ({ signal }) => bodyOf(api.GET(INVITATIONS, { signal })),
  });
  const end = useMutation({
    mutationFn: (id: string) => bodyOf(api.DELETE('/v1/invitations/{id}', { params: { path: { id } } })),
    onSuccess: () => say('The invitation is cancelled.'),
    onSettled: () => queryClient.invalidateQueries({ queryKey: [INVITATIONS] }),
  });
  const open = data?.items.filter(({ used }) => !used) ?? [];
  if (open.length === 0 && !error) return null;
  return (
    <section aria-label="Invitations">
      <h2>Invited</h2>
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {end.error && <Problem error={end.error} />}
      {open.length > 0 && (
        <Rows label="Invitations">
          {open.map(({ id, email, owner, memberships, ends_at }) => (
            <Row key={id}>
              <div>
                <h3>{email}</h3>
                <Quiet>
                  {[
                    ...(owner ? ['owner of the deployment'] : []),
                    ...memberships.map(({ workspace, role }) => `${role} of ${workspace}`),
                  ].join(', ') || 'no role'}{' '}
                  · expires <Time at={ends_at} />
                </Quiet>
              </div>
              <Actions>
                <Button
                  kind="danger"
                  isDisabled={end.isPending && end.variables === id}
                  onPress={() => end.mutate(id)}
                  aria-label={`Cancel invitation of ${email}`}
                >
                  Cancel invitation
                </Button>
              </Actions>
            </Row>
          ))}
        </Rows>
      )}
      <Curl
        calls={[
          { method: 'GET', path: INVITATIONS },
          // Names a sole invitation alone: with several, whoever copies the call would end the wrong one.
          { method: 'DELETE', path: `${INVITATIONS}/${open.length === 1 && open[0] ? open[0].id : '<id>'}` },
        ]}
      />
    </section>
  );
}
