/** What the program is told by the environment. */
export const config = {
  key: process.env['PARTNER_KEY'] ?? '',
  host: process.env['PARTNER_HOST'] ?? '127.0.0.1',
  port: Number(process.env['PARTNER_PORT'] ?? 7500),
};
