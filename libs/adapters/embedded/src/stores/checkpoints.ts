import type { LogId } from '@carillon/kernel';
import { readWatermark, type Checkpoint, type CheckpointStore, type FencedWrite } from '@carillon/ports';
import type { Reader } from '../reader.ts';
import type { Transaction, Write } from '../writing/protocol.ts';

type CheckpointRow = {
  consumer_group: string;
  topic: string;
  partition: number;
  log_id: string;
  next: number;
  /** The watermark, by the name that the column has had since the first release. */
  clocks: string;
  config_number: number;
};

export const checkpointWrites = ({ sql }: Transaction) => ({
  'checkpoints.save'(row: CheckpointRow): FencedWrite {
    const changed = sql.run(
      `INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET next = excluded.next, clocks = excluded.clocks, config_number = excluded.config_number
       WHERE log_id = excluded.log_id AND next <= excluded.next`,
      row.consumer_group,
      row.topic,
      row.partition,
      row.log_id,
      row.next,
      row.clocks,
      row.config_number,
    );
    return changed === 1 ? 'done' : 'refused';
  },
});
type CheckpointWrites = ReturnType<typeof checkpointWrites>;

export const createCheckpointStore = (reader: Reader, write: Write<CheckpointWrites>): CheckpointStore => ({
  async load(group, topic, partition) {
    const row = reader.get(
      'SELECT * FROM checkpoints WHERE consumer_group = ? AND topic = ? AND partition = ?',
      group,
      topic,
      partition,
    ) as CheckpointRow | undefined;
    return row ? fromRow(row) : null;
  },
  async save(checkpoint) {
    return write(
      'checkpoints.save',
      { bytes: 256 },
      {
        consumer_group: checkpoint.group,
        topic: checkpoint.topic,
        partition: checkpoint.partition,
        log_id: checkpoint.logId,
        next: checkpoint.next,
        clocks: String(checkpoint.watermark),
        config_number: checkpoint.configNumber,
      },
    );
  },
});

const fromRow = (row: CheckpointRow): Checkpoint => ({
  group: row.consumer_group,
  topic: row.topic,
  partition: row.partition,
  logId: row.log_id as LogId,
  next: row.next,
  watermark: readWatermark(row.clocks),
  configNumber: row.config_number,
});
