# What every deployment decides: where plinth runs, who may do what, and which release.

locals {
  # A setting is a list with commas, compared word by word: what is written otherwise would match nobody, and say nothing.
  forms = {
    email           = "^[^@:,\\s]+@[^@:,\\s]+$"
    domain          = "^([A-Za-z0-9-]+\\.)+[A-Za-z][A-Za-z0-9-]*$"
    billing_account = "^[0-9A-F]{6}-[0-9A-F]{6}-[0-9A-F]{6}$"
  }

  access_settings = ["PLINTH_MACHINE_ACCESS", "PLINTH_SSH_SOURCE_RANGES", "PLINTH_MACHINE_ACCESS_OPEN"]
}

variable "project_id" {
  description = "The project that plinth itself runs in. It must exist, have a billing account, and lie in none of the folders of parents."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{4,28}[a-z0-9]$", var.project_id))
    error_message = "A project id has 6 to 30 characters: lower-case letters, digits and hyphens, a letter first."
  }
}

variable "region" {
  description = "Region of the functions, the database, the jobs and the buckets."
  type        = string
  default     = "europe-west4"
  nullable    = false

  validation {
    condition     = can(regex("^[a-z]+-[a-z]+[0-9]+$", var.region))
    error_message = "A region looks like europe-west4."
  }
}

variable "deployment" {
  description = "Name of this deployment, written into the labels of what it makes. It never changes: a cleaner touches only its own."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[a-z0-9][a-z0-9_-]{0,62}$", var.deployment))
    error_message = "The name must do as a label's value: a-z, 0-9, _ and -, at most 63."
  }
}

variable "release" {
  description = "Which release of plinth: the folder beneath releases/ in the release bucket."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$", var.release))
    error_message = "A release is a version or a commit, such as 3.0.0."
  }
}

variable "release_bucket" {
  description = "Bucket that holds releases/<release>/<function>.zip, as cloudbuild.yaml writes them. It exists before this module runs."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]$", var.release_bucket))
    error_message = "Give the bucket's name, without gs://."
  }
}

variable "invokers" {
  description = "Who may reach bootstraps and api through IAM, such as domain:example.com or group:…. plinth verifies every token itself, so [\"allUsers\"] would do, but organizations made since May 2024 forbid it."
  type        = set(string)
  nullable    = false

  validation {
    condition = length(var.invokers) > 0 && alltrue([
      for member in var.invokers : can(regex("^(allUsers|allAuthenticatedUsers|(user|group|domain|serviceAccount|principal|principalSet):\\S+)$", member))
    ])
    error_message = "Name at least one member of IAM: user:…, group:…, domain:…, serviceAccount:…, or allUsers."
  }
}

variable "oauth_clients" {
  description = "OAuth client ids of people's tokens, such as 123-abc.apps.googleusercontent.com. Tokens made for the endpoints are always accepted."
  type        = list(string)
  default     = []
  nullable    = false

  validation {
    condition     = alltrue([for client in var.oauth_clients : can(regex("^[^,\\s]+$", client))])
    error_message = "A client id has no commas and no spaces."
  }
}

variable "console_client" {
  description = "OAuth client id of type Web, by which people sign in to the console. Its secret goes into plinth-console-client of Secret Manager. Empty: there is no console."
  type        = string
  default     = ""
  nullable    = false

  validation {
    condition     = can(regex("^[^,\\s]*$", var.console_client))
    error_message = "A client id has no commas and no spaces."
  }
}

variable "operators" {
  description = "E-mails of those who may do what an owner may, everywhere."
  type        = list(string)
  default     = []
  nullable    = false

  validation {
    condition     = alltrue([for email in var.operators : can(regex(local.forms.email, email))])
    error_message = "Not e-mail addresses: ${join("; ", [for email in var.operators : email if !can(regex(local.forms.email, email))])}. Give each by itself as name@example.com, without user: before it."
  }
}

variable "bootstrappers" {
  description = "Who may bootstrap, by e-mail and by Workspace domain. A service account has an e-mail too, such as the one that builds act as without a key. Both empty: operators only."
  type = object({
    emails  = optional(list(string), [])
    domains = optional(list(string), [])
  })
  default  = {}
  nullable = false

  validation {
    condition     = alltrue([for email in var.bootstrappers.emails : can(regex(local.forms.email, email))])
    error_message = "Not e-mail addresses: ${join("; ", [for email in var.bootstrappers.emails : email if !can(regex(local.forms.email, email))])}. Give each by itself as name@example.com, without user: before it."
  }

  validation {
    condition     = alltrue([for domain in var.bootstrappers.domains : can(regex(local.forms.domain, domain))])
    error_message = "Not domains: ${join("; ", [for domain in var.bootstrappers.domains : domain if !can(regex(local.forms.domain, domain))])}. Give each by itself as example.com, without @ or domain: before it."
  }
}

variable "organization_creators" {
  description = "Workspace domains whose people may make organizations; \"anyone\": every caller. Empty: operators only. Unless it is empty, migrating a team takes the consent of an admin of the team; PLINTH_MIGRATION_CONSENT in settings says otherwise."
  type        = list(string)
  default     = []
  nullable    = false

  validation {
    condition     = alltrue([for domain in var.organization_creators : domain == "anyone" || can(regex(local.forms.domain, domain))])
    error_message = "Neither domains nor \"anyone\": ${join("; ", [for domain in var.organization_creators : domain if domain != "anyone" && !can(regex(local.forms.domain, domain))])}. Give each domain by itself as example.com, without @ or domain: before it."
  }
}

variable "parents" {
  description = "Folders and organizations that projects may be made in. The first is the default. Better none that plinth's own project lies in: the functions have rights over all in them."
  type        = list(string)
  nullable    = false

  validation {
    condition     = length(var.parents) > 0 && alltrue([for parent in var.parents : can(regex("^(folders|organizations)/[0-9]+$", parent))])
    error_message = "Name at least one parent, as folders/<number> or organizations/<number>: a service account makes no project without."
  }
}

variable "billing_accounts" {
  description = "Billing accounts that bootstraps may use."
  type        = set(string)
  nullable    = false

  validation {
    condition     = length(var.billing_accounts) > 0 && alltrue([for id in var.billing_accounts : can(regex(local.forms.billing_account, id))])
    error_message = "Name at least one billing account, as 0123AB-4567CD-89EF01."
  }
}

variable "machine_access" {
  description = "How functions and people reach the machines of new bootstraps. iap: through Google's Identity-Aware Proxy. direct: the jumpbox has a public address, and takes SSH from ssh_source_ranges."
  type        = string
  # null is refused. Without it, terraform would say that an argument is missing, and not what there is to choose.
  default = null

  validation {
    condition     = var.machine_access == null ? false : contains(["iap", "direct"], var.machine_access)
    error_message = "Choose how machines of new bootstraps are reached. machine_access = \"iap\": through Google's Identity-Aware Proxy; the jumpbox has no public address, and port 22 is open to IAP alone. machine_access = \"direct\": the jumpbox has a public address, and port 22 is open to ssh_source_ranges, or to everybody with machine_access_open = true. Bootstraps keep what they began with."
  }
}

variable "ssh_source_ranges" {
  description = "Ranges from which jumpboxes take SSH with machine_access = \"direct\": those of the people, and the fixed address of the functions' way out (docs/operate/deploy.md)."
  type        = list(string)
  default     = []
  nullable    = false

  # Google refuses a range that does not begin with its first address.
  validation {
    condition     = !anytrue([for range in var.ssh_source_ranges : can(regex("(^|[./])0[0-9]", range)) || !try(cidrhost(range, 0) == cidrhost("${split("/", range)[0]}/${strcontains(range, ":") ? 128 : 32}", 0), false)])
    error_message = "No ranges that Google takes: ${join("; ", [for range in var.ssh_source_ranges : range if can(regex("(^|[./])0[0-9]", range)) || !try(cidrhost(range, 0) == cidrhost("${split("/", range)[0]}/${strcontains(range, ":") ? 128 : 32}", 0), false)])}. Write the first address and the prefix, as 203.0.113.7/32, 203.0.113.0/24 or 2001:db8::/32."
  }
  validation {
    condition     = var.machine_access != "direct" || var.machine_access_open || length(var.ssh_source_ranges) > 0
    error_message = "With machine_access = \"direct\", say who reaches port 22 of the jumpboxes. ssh_source_ranges = [\"203.0.113.7/32\"]: these addresses alone. The functions then need one of them: docs/operate/deploy.md, \"A fixed address for the functions\". machine_access_open = true: everybody on the internet."
  }
  # Ranges of a family cover every address if the first address is in one of them, and each that follows upon one. So halves are
  # found, too. A local of these ranges can't be used here: it would wait for this.
  validation {
    condition = var.machine_access_open || !anytrue([
      for bits in [32, 128] : alltrue([
        for ranges in [[
          for range in var.ssh_source_ranges : {
            first = bits == 32 ? parseint(join("", [for part in split(".", split("/", range)[0]) : format("%02x", tonumber(part))]), 16) : parseint(join("", flatten([
              for index, part in split("::", split("/", range)[0]) : concat(
                index == 0 ? [] : [for _ in range(8 - length(compact(split(":", split("/", range)[0])))) : "0000"],
                [for group in compact(split(":", part)) : substr("000${group}", -4, 4)]
              )
            ])), 16)
            size = pow(2, bits - split("/", range)[1])
          } if can(cidrhost(range, 0)) && strcontains(range, ":") == (bits == 128)
          ]] : alltrue([
          for next in concat([0], [for each in ranges : each.first + each.size]) :
          next == pow(2, bits) || anytrue([for each in ranges : each.first <= next && next < each.first + each.size])
        ])
      ])
    ])
    error_message = "These ranges cover every address. That opens port 22 of the jumpboxes to everybody on the internet. If you mean that, add machine_access_open = true. Otherwise name the addresses of your people and of the functions' way out."
  }
  validation {
    condition     = !var.machine_access_open || length(var.ssh_source_ranges) == 0 || anytrue([for range in var.ssh_source_ranges : endswith(range, "/0")])
    error_message = "machine_access_open opens port 22 to everybody, and ssh_source_ranges to some alone. Take one of both away."
  }
  validation {
    condition     = length(var.ssh_source_ranges) == 0 || anytrue([for range in var.ssh_source_ranges : !strcontains(range, ":")])
    error_message = "Name a range of IPv4, too. A jumpbox has no public address of IPv6, so nobody would reach it."
  }
}

variable "machine_access_open" {
  description = "True: with machine_access = \"direct\", port 22 of jumpboxes is open to everybody on the internet."
  type        = bool
  default     = false
  nullable    = false

  validation {
    condition     = !var.machine_access_open || var.machine_access == "direct"
    error_message = "machine_access_open goes only with machine_access = \"direct\". Take one of both away."
  }
}

variable "dns_zones" {
  description = "DNS zones outside of the own project that bootstraps may write, as <project>/<zone>. They must exist: the function gets roles/dns.admin on each of them. A zone whose project stands in dns_projects may be missing."
  type        = set(string)
  default     = []
  nullable    = false

  validation {
    condition     = alltrue([for zone in var.dns_zones : can(regex("^[a-z][a-z0-9-]{4,28}[a-z0-9]/[a-z][a-z0-9-]{0,62}$", zone))])
    error_message = "A zone is written as <project>/<zone>."
  }
}

variable "dns_projects" {
  description = "Projects in which bootstraps may make zones of dns_zones that are missing: the function gets roles/dns.admin on the whole project, and so over every zone there."
  type        = set(string)
  default     = []
  nullable    = false

  validation {
    condition     = alltrue([for project in var.dns_projects : anytrue([for zone in var.dns_zones : startswith(zone, "${project}/")])])
    error_message = "No zone of dns_zones lies in ${join(", ", [for project in var.dns_projects : project if !anytrue([for zone in var.dns_zones : startswith(zone, "${project}/")])])}."
  }
}
