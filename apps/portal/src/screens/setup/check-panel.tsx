import { useMutation, useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useMay } from '../../api/me.ts';
import { Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { Curl } from '../../ui/curl.tsx';
import { Field } from '../../ui/field.tsx';
import { Actions, Card } from '../../ui/page.tsx';
import { CheckSteps } from './check-steps.tsx';
import { checkQuery, runCheck } from './queries.ts';
import type { SetupDraft } from './setup-form.tsx';

/** Proves what is set up, as it stands in the draft, and says each step. */
export function CheckPanel({
  draft,
  what,
  asksForIds = false,
}: {
  readonly draft: SetupDraft;
  /** In a sentence: what is done and to whom nothing is sent. */
  readonly what: string;
  /** Asks for user ids: a lookup can be asked about people of one's choice. */
  readonly asksForIds?: boolean;
}): ReactNode {
  const { kind, workspace, name, hasDraft } = draft;
  const [ids, setIds] = useState('');
  const off = useMay(['configure', 'operate'], workspace);
  const userIds = ids.split(/[\s,]+/).filter((id) => id !== '');
  const { data } = useQuery(checkQuery({ kind, workspace, name, drafts: hasDraft }, false));
  const check = useMutation({
    mutationFn: async () => {
      await draft.saveNow();
      return runCheck({ kind, workspace, name, drafts: hasDraft, userIds });
    },
  });
  return (
    <Card title="Check">
      <p>{what}</p>
      {asksForIds && (
        <Field
          label="Sample user ids"
          note="At most ten, separated by spaces. If empty, the check asks about an id that nobody has."
          isMono
          value={ids}
          onChange={setIds}
          fault={userIds.length > 10 ? 'At most ten.' : null}
        />
      )}
      <Actions>
        <Button
          off={off}
          kind={hasDraft ? 'plain' : 'main'}
          isDisabled={check.isPending || userIds.length > 10}
          onPress={() => check.mutate()}
        >
          {check.isPending ? 'Checking' : kind === 'accounts' ? 'Check the account' : 'Check the integration'}
        </Button>
      </Actions>
      {check.error && <Problem error={check.error} onRetry={() => check.mutate()} />}
      {data && <CheckSteps steps={data} />}
      <Curl
        call={{
          method: 'POST',
          path: `/v1/workspaces/${workspace}/${kind}/${name}/check`,
          body: { ...(hasDraft && { drafts: true }), ...(userIds.length > 0 && { user_ids: userIds }) },
        }}
      />
    </Card>
  );
}
