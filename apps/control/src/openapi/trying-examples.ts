/** Examples of trying rules, templates and streams before they are used, by operation. */
const AT = '2026-11-22T10:42:00.000Z';
const LATER = '2026-11-22T10:42:00.180Z';
const EVENT_ID = 'evt_0GMPXQ2V7T1C9H4B8KJ5N6R3WD';
const DELIVERY_ID = 'dlv_37G5398XK2YK0SPEA59673M7JP';
const page = (item: object) => ({ items: [item], next: null });

const NOTHING_FIRED = {
  fired: false,
  outcome: 'not_fired',
  error: null,
  asks: null,
  answered: null,
  problems: [],
  recipients: [],
  dropped: [],
};

export const TRYING_EXAMPLES = {
  sampleRule: {
    answers: {
      rule: 'order-paid.paid',
      rule_version: 3,
      stream: 'shop/orders',
      url: 'http://127.0.0.1:7400/events/shop/orders',
      credential: { kind: 'api_key', variable: 'CARILLON_API_KEY', advice: 'an API key of the stream: backend' },
      event: '{"status":"paid","total":101,"customer":{"email":"ada@example.com"}}',
      change: null,
      earlier: [],
      sentence: null,
      fires: true,
      recipients: 1,
      asks: null,
      answered: [],
      fields: [{ path: 'status', type: 'string', used_by: ['when'], value: '"paid"', origin: 'condition' }],
      whole_event: [],
      code: { curl: 'curl -X POST …', javascript: 'await fetch(…)', python: 'urlopen(…)', go: 'http.Post(…)' },
    },
  },
  previewTemplate: {
    takes: { event: '{"order_id":"A-1001"}', channel: 'sms' },
    answers: {
      template: 'order-paid',
      version: 2,
      messages: [
        {
          ok: true,
          error: null,
          channel: 'sms',
          from: null,
          subject: null,
          html: null,
          text: 'Order A-1001 is paid.',
          sms: { encoding: 'GSM-7', segments: 1, units: 21, first_outside_gsm: null },
          push: null,
          links: null,
          missing: [],
          fields: ['order_id'],
          variant: null,
          notes: [],
        },
      ],
    },
  },
  listMissingVariables: {
    answers: {
      template: 'order-paid',
      version: 2,
      events: 1000,
      since: '2026-11-24T08:00:00.000Z',
      sending: 412,
      failed: 0,
      variables: [{ variable: 'customer.name', missing: 31, event_id: EVENT_ID }],
    },
  },
  testSendNotification: {
    takes: { channel: 'sms', to: '+4930123456', event: '{"order_id":"A-1001"}', locale: 'de-AT' },
    answers: {
      delivery_id: DELIVERY_ID,
      notification: 'order-paid',
      channel: 'sms',
      to: '+4930123456',
      template: 'order-paid',
      template_version: 2,
      notes: [],
      not_after: '2026-11-22T11:42:00.000Z',
    },
  },
  testRule: {
    takes: {
      events: [
        { at: '10:00', event: '{"type":"placed","order_id":"A-1001"}' },
        { at: '10:20', event: '{"type":"paid","order_id":"A-1001"}' },
      ],
    },
    answers: {
      rule: 'order-unpaid.not-paid',
      rule_version: 3,
      stream: 'shop/orders',
      ...NOTHING_FIRED,
      explained: [{ source: 'event.type == "placed"', depth: 0, value: 'false' }],
      timeline: [
        {
          at: '2026-11-22T10:00:00.000Z',
          kind: 'event',
          event: 0,
          event_id: EVENT_ID,
          entity: 'A-1001',
          ...NOTHING_FIRED,
          totals: {},
          decisions: ['waits until 2026-11-22T11:00:00.000Z'],
          explained: [
            { field: 'when', source: 'event.type == "placed"', depth: 0, value: 'true' },
            { field: 'unless', source: 'event.type == "paid"', depth: 0, value: 'false' },
          ],
          waits_until: '2026-11-22T11:00:00.000Z',
        },
        {
          at: '2026-11-22T10:20:00.000Z',
          kind: 'event',
          event: 1,
          event_id: EVENT_ID,
          entity: 'A-1001',
          ...NOTHING_FIRED,
          totals: {},
          decisions: ['wait cancelled: `unless` is true'],
          explained: [
            { field: 'when', source: 'event.type == "placed"', depth: 0, value: 'false' },
            { field: 'unless', source: 'event.type == "paid"', depth: 0, value: 'true' },
          ],
          waits_until: null,
        },
      ],
    },
  },
  sendEvent: {
    takes: { event: '{"order_id":"A-1001","status":"paid","total":120}' },
    answers: { id: EVENT_ID, stream: 'shop/orders' },
  },
  listAnswerFields: {
    answers: {
      integration: 'crm',
      people: 40,
      ...page({ path: 'first_name', types: ['string'], sample: '"Ada"', count: 38 }),
    },
  },
  countWaitingEntities: {
    answers: {
      rule: 'order-unpaid.not-paid',
      can_wait: true,
      entities: 12,
      next_deadline: '2026-11-22T11:42:00.000Z',
      late_events: { count: 3, complete: true },
    },
  },
  readEntity: {
    answers: {
      stream: 'shop/orders',
      key: 'A-1',
      rules: [
        {
          rule: 'order-unpaid.not-paid',
          rule_id: 'shop/order-unpaid.not-paid',
          words: ['waits until 2026-11-22T11:42:00.000Z'],
          sentence: '1h after the first such event, unless event.type == "paid"',
          waits_until: '2026-11-22T11:42:00.000Z',
          event: 'evt_0GMPXQ2V7T1C9H4B8KJ5N6R3WD',
        },
      ],
      decisions: [
        {
          at: AT,
          rule: 'order-unpaid.not-paid',
          rule_id: 'shop/order-unpaid.not-paid',
          event: 'evt_0GMPXQ2V7T1C9H4B8KJ5N6R3WD',
          waited_for: null,
          words: ['waits until 2026-11-22T11:42:00.000Z'],
        },
      ],
      events: [{ id: 'evt_0GMPXQ2V7T1C9H4B8KJ5N6R3WD', at: AT, body: '{"type":"placed","order_id":"A-1"}' }],
    },
  },
  forgetEntity: { takes: {}, answers: { stream: 'shop/orders', key: 'A-1' } },
  listStreamFields: {
    answers: {
      stream: 'shop/orders',
      source: null,
      ...page({
        path: 'total',
        types: ['number'],
        sample: '120',
        first_seen: AT,
        last_seen: LATER,
        count: 1204,
        tables: [],
      }),
    },
  },
};
