import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useMay } from '../../api/me.ts';
import { Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { Curl } from '../../ui/curl.tsx';
import { Actions } from '../../ui/page.tsx';
import { compareVersion, versionBody } from './queries.ts';

/** Compares a version with the one before it over the last 30 days, and opens the comparison. */
export function CompareVersion({
  workspace,
  number,
}: {
  readonly workspace: string;
  readonly number: number;
}): ReactNode {
  const navigate = useNavigate();
  const off = useMay(['configure', 'operate'], workspace);
  const start = useMutation({
    mutationFn: () => compareVersion(workspace, number),
    onSuccess: ({ id }) => void navigate({ to: '/workspaces/$w/runs/$id', params: { w: workspace, id } }),
  });
  return (
    <>
      {start.error && <Problem error={start.error} />}
      <Actions>
        <Button off={off} isDisabled={start.isPending} onPress={() => start.mutate()}>
          Compare with the previous version
        </Button>
      </Actions>
      <Curl call={{ method: 'POST', path: `/v1/workspaces/${workspace}/runs`, body: versionBody(number) }} />
    </>
  );
}
