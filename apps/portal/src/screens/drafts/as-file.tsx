import { useQuery } from '@tanstack/react-query';
import { Fragment, useState, type ReactNode } from 'react';
import { api, bodyOf, Refusal } from '../../api/client.ts';
import type { Editable } from '../../api/draft-calls.ts';
import { Loading, Problem } from '../../ui/answers.tsx';
import { cls } from '../../ui/class-names.ts';
import { Code } from '../../ui/text.tsx';
import { useSettled } from '../../ui/use-settled.ts';
import styles from './drafts.module.css';

/** Milliseconds without typing after which files are requested. */
const PAUSE = 400;

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
  /** Number of the configuration that gave it its body: another number is another file. */
  readonly number: number;
}): ReactNode {
  return <AsYaml>{() => <Text resource={resource} number={number} />}</AsYaml>;
}

/** Files that are only asked for, or made, once somebody opens them. */
function AsYaml({ children }: { readonly children: () => ReactNode }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className={cls(styles.file)} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>As YAML</summary>
      {isOpen && children()}
    </details>
  );
}

export type File = { readonly path: string; readonly text: string };

/** Files that are known, each with its path in a folder that is kept with the code. */
export function AsFiles({ files }: { readonly files: readonly File[] }): ReactNode {
  return <AsYaml>{() => <Files files={files} />}</AsYaml>;
}

const Files = ({ files }: { readonly files: readonly File[] }): ReactNode =>
  files.map(({ path, text }) => (
    <Fragment key={path}>
      <code>{path}</code>
      <Code text={text} what={path} />
    </Fragment>
  ));

type Wanted = {
  readonly kind: 'notifications' | 'streams' | 'templates';
  readonly workspace: string;
  readonly name: string;
  readonly body: object;
};

const planOf = ({ kind, workspace, name, body }: Wanted, signal: AbortSignal) =>
  bodyOf(
    // All are asked about at addresses of one shape.
    api.POST(`/v1/workspaces/{workspace}/${kind}/{name}/check` as CheckPath, {
      params: { path: { workspace, name } },
      body: body as never,
      signal,
    }),
  );
type CheckPath = '/v1/workspaces/{workspace}/notifications/{name}/check';

/** The files that resources would be, which nobody has saved yet. */
export function AsNewFiles({ wanted }: { readonly wanted: readonly Wanted[] }): ReactNode {
  return <AsYaml>{() => <NewFiles wanted={wanted} />}</AsYaml>;
}

function NewFiles({ wanted }: { readonly wanted: readonly Wanted[] }): ReactNode {
  const asked = useSettled(JSON.stringify(wanted), PAUSE);
  const { data, error, refetch } = useQuery({
    queryKey: ['/v1/workspaces/{workspace}/{kind}/{name}/check', 'files', asked],
    queryFn: async ({ signal }) => {
      const all = JSON.parse(asked) as readonly Wanted[];
      return (await Promise.all(all.map((one) => planOf(one, signal)))).flatMap(({ files }) => files);
    },
    placeholderData: (before) => before,
  });
  if (error) return <Problem error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Loading what="the files" rows={3} />;
  return <Files files={data} />;
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
