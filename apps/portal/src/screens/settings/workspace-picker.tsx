import { Link, useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Empty, Loading, Problem } from '../../ui/answers.tsx';
import { cls } from '../../ui/class-names.ts';
import { Select } from '../../ui/select.tsx';
import type { usePickedWorkspace } from './use-picked-workspace.ts';
import styles from './settings.module.css';

/** Which workspace the page is about; the choice stands in its address. */
export function WorkspacePicker({
  workspace,
  all,
}: {
  readonly workspace: string;
  readonly all: readonly string[];
}): ReactNode {
  const navigate = useNavigate();
  return (
    <div className={cls(styles.picker)}>
      <Select
        label="Workspace"
        options={all.map((name) => ({ id: name, name }))}
        chosen={workspace}
        onChoose={(name) => void navigate({ to: '.', search: { workspace: name }, replace: true })}
      />
    </div>
  );
}

/** In the place of the picker while there is nothing to pick from. */
export function NoWorkspace({ picked }: { readonly picked: ReturnType<typeof usePickedWorkspace> }): ReactNode {
  if (picked.isLoading) return <Loading what="workspaces" rows={3} />;
  if (picked.error !== null && picked.all.length === 0) return <Problem error={picked.error} />;
  if (picked.workspace !== null) return null;
  return (
    <Empty title="No workspace yet" action={<Link to="/workspaces">Workspaces</Link>}>
      This page shows one workspace, and you have access to none.
    </Empty>
  );
}
