# What the functions are told (functions/config.ts). settings.json, generated from there, knows all names.

locals {
  known_settings = keys(jsondecode(file("${path.module}/settings.json")))

  # Where the build of a release puts what jumpboxes fetch. A setting may name another bucket, or a mirror.
  releases_url = trimsuffix(lookup(var.settings, "PLINTH_RELEASES_URL", "gs://${var.release_bucket}/releases"), "/")

  common_settings = {
    PLINTH_PROJECT               = var.project_id
    PLINTH_DEPLOYMENT            = var.deployment
    PLINTH_RELEASE               = var.release
    PLINTH_PARENTS               = join(",", var.parents)
    PLINTH_BILLING_ACCOUNTS      = join(",", sort(var.billing_accounts))
    PLINTH_DNS_ZONES             = join(",", sort(var.dns_zones))
    PLINTH_OPERATORS             = join(",", var.operators)
    PLINTH_BOOTSTRAPPERS         = join(",", concat(var.bootstrappers.emails, var.bootstrappers.domains))
    PLINTH_ORGANIZATION_CREATORS = join(",", var.organization_creators)
    PLINTH_POOLS                 = length(var.pools) == 0 ? "" : jsonencode([for pool in var.pools : { for name, value in pool : name => value if value != null }])
    PLINTH_USD_PER_HOUR          = var.ceilings.hour == null ? "" : tostring(var.ceilings.hour)
    PLINTH_USD_PER_MONTH_OWNER   = var.ceilings.owner_month == null ? "" : tostring(var.ceilings.owner_month)
    PLINTH_USD_PER_MONTH         = var.ceilings.month == null ? "" : tostring(var.ceilings.month)
    PLINTH_BEYOND_CEILING        = var.beyond_ceiling
    PLINTH_PACKAGES_BUCKET       = google_storage_bucket.packages.name
    PLINTH_UPLOADS_BUCKET        = google_storage_bucket.uploads.name
    PLINTH_RELEASES_URL          = local.releases_url
    PLINTH_SCHEDULER_REGION      = var.region
    PLINTH_CHECK_URL             = local.urls["check"]
    PLINTH_MACHINE_ACCESS        = var.machine_access
    PLINTH_SSH_SOURCE_RANGES     = join(",", var.ssh_source_ranges)
    PLINTH_MACHINE_ACCESS_OPEN   = var.machine_access_open ? "on" : ""
    PLINTH_CONSOLE_CLIENT_ID     = var.console_client
    PLINTH_CONSOLE_URL           = var.console_client == "" ? "" : local.urls["api"]
    PLINTH_BOOTSTRAPS_URL        = var.console_client == "" ? "" : local.urls["bootstraps"]
    OTEL_EXPORTER_OTLP_ENDPOINT  = var.traces ? "https://telemetry.googleapis.com" : ""
  }

  # An empty setting is an unset one.
  environments = {
    for name in keys(local.function_table) : name => {
      for setting, value in merge(
        local.common_settings,
        {
          PLINTH_AUDIENCES = join(",", concat([local.urls[name]], contains(local.public_functions, name) ? var.oauth_clients : []))
          # Signed URLs name their signer.
          PLINTH_SERVICE_ACCOUNT = local.identities[local.account_of[name]].email
        },
        var.settings,
      ) : setting => value if value != ""
    }
  }
}
