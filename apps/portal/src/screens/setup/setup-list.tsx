import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useMay } from '../../api/me.ts';
import { Quiet, Row } from '../../ui/page.tsx';
import { Lamp } from '../../ui/state.tsx';
import type { DraftFacts } from '../drafts/queries.ts';
import { checkQuery, type Checkable } from './queries.ts';

const DRAFT_WORDS = { create: 'New: not published yet', update: 'Draft', delete: 'Draft: it goes' } as const;

/** One of the list: what it is, whether it works as far as this tab knows, and whether it is being edited. */
export function SetupRow({
  kind,
  workspace,
  name,
  words,
  isPublished,
  draft,
  asks,
}: {
  readonly kind: Checkable;
  readonly workspace: string;
  readonly name: string;
  /** What it is, in a line. */
  readonly words: string;
  readonly isPublished: boolean;
  readonly draft: DraftFacts | undefined;
  /** It is checked without being asked to. */
  readonly asks: boolean;
}): ReactNode {
  const off = useMay(['configure', 'operate'], workspace);
  const { data, error, isFetching } = useQuery(
    checkQuery({ kind, workspace, name, drafts: !isPublished }, asks && off === null),
  );
  const failing = data?.find(({ ok }) => !ok);
  return (
    <Row>
      <span>
        <h2>
          <Link
            to={kind === 'accounts' ? '/workspaces/$w/accounts/$a' : '/workspaces/$w/integrations/$i'}
            params={{ w: workspace, a: name, i: name }}
          >
            {name}
          </Link>
        </h2>
        <Quiet>{words}</Quiet>
      </span>
      {draft && <Lamp tone="held">{draft.state === 'conflict' ? 'Draft in conflict' : DRAFT_WORDS[draft.action]}</Lamp>}
      {isFetching && <Quiet>Checking</Quiet>}
      {error && <Lamp tone="bad">{error.message}</Lamp>}
      {data && (
        <Lamp tone={failing ? 'bad' : 'good'} name={failing ? 'check-bad' : 'check-good'}>
          {failing ? `Fails at: ${failing.step}` : 'Works'}
        </Lamp>
      )}
      {!data && !error && !isFetching && <Lamp tone="none">Not checked</Lamp>}
    </Row>
  );
}
