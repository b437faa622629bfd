/**
 * All span and attribute names in one file, so that a review can see that none holds an address, a body or an entity
 * key. Spans exist per request, batch, call or attempt; never per record. docs/telemetry.md lists both tables, and a
 * test compares them.
 */
export const SPANS = {
  'http.request': 'One HTTP request, until its answer.',
  'log.append': 'One append to the log, until it is acknowledged.',
  'stage.batch': 'One batch of one stage; linked to the sampled records in it.',
  'partner.call': 'One call to a partner for data.',
  'delivery.attempt': 'One call to a provider.',
  'config.publish': 'One publication of a configuration, until every marker is acknowledged.',
  'replay.job': 'One run over past events, as long as this process executes it.',
} as const satisfies Record<string, string>;
export type SpanName = keyof typeof SPANS;

/** Names with a dot group but without `carillon` are those of the OpenTelemetry semantic conventions. */
export const SPAN_ATTRIBUTES = {
  'http.request.method': 'Method of the request.',
  'http.route': 'Route as declared, without values.',
  'http.response.status_code': 'Status of the answer.',
  'error.type': 'Code of the problem, or name of the error. Never its text.',
  'messaging.destination.name': 'Topic.',
  'messaging.destination.partition.id': 'Partition.',
  'messaging.consumer.group.name': 'Consumer group.',
  'messaging.batch.message_count': 'Records in the batch.',
  'carillon.workspace': 'Workspace.',
  'carillon.stream': 'Path of the stream.',
  'carillon.stage': 'Stage.',
  'carillon.result': 'Outcome.',
  'carillon.config_number': 'Configuration of the evaluation.',
  'carillon.notification': 'Notification.',
  'carillon.rule': 'Rule.',
  'carillon.event_id': 'Event.',
  'carillon.trigger_id': 'Trigger.',
  'carillon.intent_id': 'Intent.',
  'carillon.delivery_id': 'Delivery.',
  'carillon.attempt_id': 'Attempt.',
  'carillon.attempt': 'Number of the attempt, from 1.',
  'carillon.channel': 'Channel.',
  'carillon.verdict': "The provider's answer, as a verdict.",
} as const satisfies Record<string, string>;
export type SpanAttributeName = keyof typeof SPAN_ATTRIBUTES;
export type SpanAttributeValue = string | number | boolean;
export type SpanAttributes = { readonly [Name in SpanAttributeName]?: SpanAttributeValue };
