import { createHash } from 'node:crypto';
import type { Moment } from '@carillon/domain/deliveries';
import { ERASURE_PLACES, type ErasurePlace } from '@carillon/domain/erasures';
import type { Eraser, ErasureFindings, ErasureSteps, ErasureWork } from '@carillon/ports';
import { scanLog } from './scan-log.ts';

/** Collects what was found. */
class Findings {
  readonly #keys: string[] = [];
  readonly #undecided: string[] = [];
  readonly #counts = new Map<ErasurePlace, number>();

  add(place: ErasurePlace, key: string): void {
    this.#keys.push(`${place} ${key}`);
    this.#counts.set(place, (this.#counts.get(place) ?? 0) + 1);
  }

  addUndecided(id: string): void {
    this.#undecided.push(id);
  }

  end(): ErasureFindings {
    const checksum = createHash('sha256');
    for (const key of this.#keys.toSorted()) checksum.update(`${key}\n`);
    const counts = Object.fromEntries(
      ERASURE_PLACES.flatMap((place) => (this.#counts.has(place) ? [[place, this.#counts.get(place)] as const] : [])),
    );
    return { counts, checksum: checksum.digest('hex'), undecided: this.#undecided };
  }
}

/** Empties log and stores of a backend by its steps. */
export function createEraser(steps: ErasureSteps): Eraser {
  async function scanStores(work: ErasureWork, moment: Moment, findings: Findings, isErasing: boolean): Promise<void> {
    for await (const entries of steps.entries(work, moment)) {
      for (const entry of entries) {
        findings.add(entry.place, entry.key);
        if (entry.undecided !== null) findings.addUndecided(entry.undecided);
        else if (isErasing) await entry.erase();
      }
    }
  }

  return {
    pauseConsumers: () => steps.pauseConsumers(),
    finish: () => steps.finish(),
    bytesUntil: (now) => steps.bytesUntil(now),
    async find(work) {
      const findings = new Findings();
      for await (const page of scanLog(steps, work.judge)) {
        for (const { offset } of page.records) findings.add('log_records', `${page.topic}/${page.partition}@${offset}`);
      }
      // The time is unused, because a look writes nothing.
      await scanStores(work, { now: 0, derive: () => '' }, findings, false);
      return findings.end();
    },
    async erase(work, unreadFrom, moment) {
      const findings = new Findings();
      for await (const page of scanLog(steps, work.judge, unreadFrom)) {
        await steps.eraseRecords(page, moment);
        for (const { offset } of page.records) findings.add('log_records', `${page.topic}/${page.partition}@${offset}`);
      }
      await scanStores(work, moment, findings, true);
      return findings.end();
    },
  };
}
