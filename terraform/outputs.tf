# What comes next needs: the command line, operators, cloudbuild.yaml, the tests.

output "endpoints" {
  description = "For `endpoints` in ~/.config/plinth/config.yaml."
  value       = { for name in local.public_functions : name => local.urls[name] }
}

output "config_yaml" {
  description = "The command line's config file: terraform output -raw config_yaml > ~/.config/plinth/config.yaml"
  value = yamlencode(merge(
    { endpoints = { for name in local.public_functions : name => local.urls[name] } },
    # The first client is the one that `plinth login` uses; its secret, which is none, is given beside it.
    { for id in slice(var.oauth_clients, 0, min(1, length(var.oauth_clients))) : "oauth" => { clientId = id } },
  ))
}

output "accounts" {
  description = "E-mail of each identity, by function or purpose."
  value       = { for name, account in google_service_account.identity : name => account.email }
}

output "package_bucket" {
  description = "Where installer packages go."
  value       = google_storage_bucket.packages.name
}

output "releases_url" {
  description = "Where machines fetch plinth's executable from, without a slash at its end (gs:// in a private bucket); empty: nowhere. A build looks there before it applies."
  value       = lookup(var.settings, "PLINTH_HOSTS", "on") == "off" ? "" : local.releases_url
}

output "releases_sha256" {
  description = "SHA-256 of the executable that machines take, where a setting says so in place of the release. A build that deploys refuses another than that of its release."
  value       = lookup(var.settings, "PLINTH_RELEASE_SHA256", "")
}

output "names" {
  description = "What is called how."
  value = {
    functions         = sort(keys(local.function_table))
    topics            = local.topics
    jobs              = { for name, job in local.jobs : name => job.job }
    secrets           = local.secrets
    bootstrapIdPrefix = local.bootstrap_id_prefix
  }
}
