/** How to enable webhooks: all conditions at once, so that they are not reported one by one. */

/** @param allowed address that is not public and must be allowed */
export function webhookSettingFor(allowed?: string): string {
  const setting = { secret: "whsec_…", ...(allowed !== undefined && { allow_private: [allowed] }) };
  return `${JSON.stringify(setting)}, with a secret from: echo "whsec_$(openssl rand -base64 32)"`;
}

/** The hint for an invalid setting. */
export const WEBHOOKS_HINT = `set webhooks to ${webhookSettingFor("127.0.0.1")} (allow_private only for addresses that are not public)`;
