import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { Refusal } from '../../api/client.ts';
import type { Editable } from '../../api/draft-calls.ts';
import { Loading, Problem } from '../../ui/answers.tsx';
import { cls } from '../../ui/class-names.ts';
import { Code } from '../../ui/text.tsx';
import styles from './drafts.module.css';

type Resource = {
  readonly kind: Editable | 'deployment';
  readonly workspace: string;
  /** Empty of the workspace's own settings, and of the deployment's. */
  readonly name: string;
};

function placeOf({ kind, workspace, name }: Resource): string {
  if (kind === 'deployment') return '/v1/deployment';
  const at = `/v1/workspaces/${encodeURIComponent(workspace)}`;
  return kind === 'workspace' ? at : `${at}/${kind}/${encodeURIComponent(name)}`;
}

async function readFile({ kind, workspace, name }: Resource, signal: AbortSignal): Promise<string> {
  const answer = await fetch(placeOf({ kind, workspace, name }), {
    headers: { accept: 'application/yaml' },
    signal,
  });
  if (answer.ok) return answer.text();
  throw new Refusal(`The server answered ${answer.status}.`, answer.status);
}

/** A resource as its file has it, for a folder that is kept with the code: what is published, not the draft. */
export function AsFile({
  number,
  ...resource
}: Resource & {
  /** Of the configuration that gave it its body: another is another file. */
  readonly number: number;
}): ReactNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className={cls(styles.file)} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>As YAML</summary>
      {isOpen && <Text resource={resource} number={number} />}
    </details>
  );
}

function Text({ resource, number }: { readonly resource: Resource; readonly number: number }): ReactNode {
  const { kind, workspace, name } = resource;
  const { data, error, refetch } = useQuery({
    queryKey: ['/v1/workspaces/{workspace}/{kind}/{name}', 'yaml', workspace, kind, name, number],
    queryFn: ({ signal }) => readFile(resource, signal),
    staleTime: Infinity,
  });
  if (error) return <Problem error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Loading what="the file" rows={3} />;
  return <Code text={data} what="the file" />;
}
