export * from './ask/publish.ts';
export * from './ask/settle.ts';
export * from './ask/stage.ts';
export * from './ask/tasks.ts';
export * from './cohorts/cohort-record.ts';
export { MEMBER_BATCH_SIZE } from './cohorts/membership-batch.ts';
export * from './cohorts/stage.ts';
export * from './configure/history.ts';
export * from './configure/publish.ts';
export * from './configure/view.ts';
export * from './dead-letters.ts';
export { createErasureWork, type ErasurePorts } from './erase/erasure-work.ts';
export { decodeRecord, decodeRecords } from './decode-record.ts';
export * from './append/receipts.ts';
export * from './deliver/after-change.ts';
export * from './deliver/attempt.ts';
export * from './deliver/catch-up.ts';
export * from './deliver/before-send.ts';
export * from './deliver/custody-stage.ts';
export * from './deliver/digests/collect.ts';
export * from './deliver/digests/empty.ts';
export type { DigestPorts } from './deliver/digests/ports.ts';
export * from './deliver/digests/recheck.ts';
export * from './deliver/digests/sweep.ts';
export * from './deliver/digests/take-in.ts';
export * from './consent/decide.ts';
export * from './consent/hash-names.ts';
export * from './consent/stage.ts';
export * from './deliver/receipt-stage.ts';
export * from './deliver/explain-cadence.ts';
export * from './deliver/limits.ts';
export { serializeByKey } from './deliver/serialize-by-key.ts';
export * from './deliver/operate.ts';
export * from './deliver/step-into-sending.ts';
export { publishOutcomes, type OutcomePorts } from './deliver/outcomes.ts';
export * from './deliver/transition.ts';
export * from './deliver/settle-doubts.ts';
export * from './deliver/render-message.ts';
export * from './deliver/rendering.ts';
export * from './deliver/sweep.ts';
export * from './deliver/test-send.ts';
<<<<<<< HEAD
export { decisionsAbout, EntityStates, loadMemory, type MemoryPorts } from './evaluate/entity-states.ts';
=======
export {
  decisionsAbout,
  EntityStates,
  loadMemory,
  movedState,
  waitingRule,
  type MemoryPorts,
} from './evaluate/entity-states.ts';
>>>>>>> f3a2ba78 (cli: move states of rules to another deployment)
export * from './evaluate/evaluate-event.ts';
export * from './evaluate/make-intents.ts';
export * from './evaluate/rule-book.ts';
export * from './evaluate/stage.ts';
export * from './outputs.ts';
export { runYielding } from './run-yielding.ts';
export { forEachConcurrently } from './for-each-concurrently.ts';
export * from './project/fields.ts';
export * from './project/stages.ts';
export * from './replay/checksum.ts';
export * from './replay/compare-event.ts';
export * from './replay/count-rows.ts';
export { asksPartner, editOf, rulesWithState, streamsOf, type Edit } from './replay/edit.ts';
export * from './replay/find-text.ts';
export * from './replay/join-slots.ts';
export { isSameContent, type Wanted } from './replay/lines.ts';
export * from './replay/offset-at.ts';
export * from './replay/plan-verification.ts';
export * from './replay/recorded-answers.ts';
export * from './replay/sent-messages.ts';
export * from './replay/unpublished.ts';
export * from './replay/verify-outputs.ts';
export * from './resolve/resolve-lookup.ts';
export * from './resolve/stage.ts';
export * from './append/idempotency-key.ts';
export * from './append/prepare-append.ts';
export * from './append/prepare-change.ts';
export * from './append/prepare-envelope.ts';
export * from './append/prepare-topic-record.ts';
export * from './append/source-record.ts';
