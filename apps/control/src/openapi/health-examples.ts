/** Examples of operations that say how sending goes, by operation. */
export const HEALTH_EXAMPLES = {
  readSending: {
    answers: {
      workspace: 'shop',
      from: '2026-11-22T09:42:00.000Z',
      to: '2026-11-22T10:42:00.000Z',
      complete: true,
      channels: [
        {
          channel: 'email',
          accounts: [
            {
              account: 'default',
              owner: 'deployment',
              kind: 'smtp',
              default: true,
              calls: { accepted: 1_180, refused: 42, failed: 3, unknown: 0 },
              refusals: [{ notification: 'order-paid', calls: 80, refused: 42, high: true }],
            },
          ],
        },
      ],
    },
  },
};
