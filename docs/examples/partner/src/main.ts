import { config } from './config.ts';
import { createPartner, readUsers } from './partner.ts';

if (config.key === '') {
  console.error('set PARTNER_KEY to the key that Carillon sends, such as: PARTNER_KEY=$(openssl rand -hex 24)');
  process.exit(2);
}
const users = readUsers(new URL('../users.json', import.meta.url));
const app = createPartner({ key: config.key, users });
const address = await app.listen({ host: config.host, port: config.port });
console.log(`${address}/recipients knows ${users.size} users`);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void app.close());
