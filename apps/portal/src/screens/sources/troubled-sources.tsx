import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { cls } from '../../ui/class-names.ts';
import { Quiet, Row, Rows } from '../../ui/page.tsx';
import { Lamp } from '../../ui/state.tsx';
import { Sentence } from '../../ui/sentence.tsx';
import { sourcesQuery, type Source } from './queries.ts';
import { lagText, needingAttention, SOURCE_STATES } from './source-text.ts';
import { ResetButton } from './source-state.tsx';
import styles from './sources.module.css';

/** The sentence of a source, which leads to its integration. A source that leaves has no page any more. */
export function SourceSentence({ source }: { readonly source: Source }): ReactNode {
  const words = (
    <>
      {source.name}: <Sentence text={source.sentence} />
    </>
  );
  if (source.state === 'leaving') return <span>{words}</span>;
  return (
    <Link to="/workspaces/$w/integrations/$i" params={{ w: source.workspace, i: source.name }}>
      {words}
    </Link>
  );
}

/** How far a source is behind, below its sentence. */
export function SourceLag({ source }: { readonly source: Source }): ReactNode {
  const lag = lagText(source);
  return lag === null || lag === 'None' ? null : (
    <span className={cls(styles.lag)}>
      <Quiet>Lag: {lag}</Quiet>
    </span>
  );
}

/** The sources of a workspace that wait, stopped or leave, above the list of integrations. */
export function TroubledSources({ workspace }: { readonly workspace: string }): ReactNode {
  const { data } = useQuery(sourcesQuery(workspace));
  const sources = needingAttention(data?.items ?? []);
  if (sources.length === 0) return null;
  return (
    <Rows label="Sources that Carillon cannot read">
      {sources.map((source) => (
        <Row key={`${source.workspace}/${source.name}`}>
          <span>
            <SourceSentence source={source} />
            <SourceLag source={source} />
          </span>
          <Lamp tone={SOURCE_STATES[source.state].tone}>{SOURCE_STATES[source.state].words}</Lamp>
          <ResetButton source={source} />
        </Row>
      ))}
    </Rows>
  );
}
