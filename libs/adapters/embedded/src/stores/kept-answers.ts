import type { KeptAnswers, KeptRequest } from '@carillon/ports';
import type { Reader } from '../reader.ts';
import type { Row } from '../statements.ts';
import type { Transaction, Write } from '../writing/protocol.ts';

const FIND = 'SELECT id, fingerprint, token, begun_at, ends_at, answer FROM kept_answers WHERE id = ?';

const fromRow = (row: Row): KeptRequest => ({
  id: String(row['id']),
  fingerprint: String(row['fingerprint']),
  token: String(row['token']),
  begunAt: Number(row['begun_at']),
  endsAt: Number(row['ends_at']),
  answer: row['answer'] === null ? null : String(row['answer']),
});

export const keptAnswerWrites = ({ sql }: Pick<Transaction, 'sql'>) => ({
  'keptAnswers.begin'(request: KeptRequest, now: number): KeptRequest {
    const found = sql.get(FIND, request.id);
    if (found && Number(found['ends_at']) > now) return fromRow(found);
    const { id, fingerprint, token, begunAt, endsAt, answer } = request;
    sql.run(
      'INSERT OR REPLACE INTO kept_answers (id, fingerprint, token, begun_at, ends_at, answer) VALUES (?, ?, ?, ?, ?, ?)',
      id,
      fingerprint,
      token,
      begunAt,
      endsAt,
      answer,
    );
    return request;
  },
  'keptAnswers.finish'(id: string, token: string, answer: string): void {
    sql.run('UPDATE kept_answers SET answer = ? WHERE id = ? AND token = ?', answer, id, token);
  },
  'keptAnswers.forget'(id: string, token: string): void {
    sql.run('DELETE FROM kept_answers WHERE id = ? AND token = ?', id, token);
  },
  'keptAnswers.removeEnded': (before: number, limit: number): number =>
    sql.run(
      'DELETE FROM kept_answers WHERE id IN (SELECT id FROM kept_answers WHERE ends_at < ? LIMIT ?)',
      before,
      limit,
    ),
});
type KeptAnswerWrites = ReturnType<typeof keptAnswerWrites>;

export const createKeptAnswers = (reader: Reader, write: Write<KeptAnswerWrites>): KeptAnswers => ({
  begin: (request, now) => write('keptAnswers.begin', { bytes: 512 }, request, now),
  async find(id) {
    const row = reader.get(FIND, id);
    return row ? fromRow(row) : null;
  },
  finish: (id, token, answer) => write('keptAnswers.finish', { bytes: 256 + answer.length }, id, token, answer),
  forget: (id, token) => write('keptAnswers.forget', { bytes: 256 }, id, token),
  removeEnded: (before, limit) => write('keptAnswers.removeEnded', { bytes: 64, rows: limit }, before, limit),
});
