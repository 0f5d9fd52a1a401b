# What a deployment may leave as it is.

variable "settings" {
  description = "More settings of the functions by name (docs/reference/settings.md). These win over what the module sets."
  type        = map(string)
  default     = {}
  nullable    = false

  validation {
    condition     = alltrue([for name in keys(var.settings) : contains(local.known_settings, name)])
    error_message = "Unknown settings: ${join(", ", [for name in keys(var.settings) : name if !contains(local.known_settings, name)])}. See docs/reference/settings.md."
  }
  validation {
    condition     = !anytrue([for name in local.access_settings : contains(keys(var.settings), name)])
    error_message = "These are variables of the module, where they are checked: write machine_access, ssh_source_ranges and machine_access_open in place of ${join(", ", [for name in local.access_settings : name if contains(keys(var.settings), name)])}."
  }
}

locals {
  # In bytes.
  memory_units = { M = 1000000, Mi = 1048576, G = 1000000000, Gi = 1073741824 }
}

variable "sizes" {
  description = "Changes to the size of single functions, by name: memory, min_instances, max_instances, concurrency."
  type = map(object({
    memory        = optional(string)
    min_instances = optional(number)
    max_instances = optional(number)
    concurrency   = optional(number)
  }))
  default  = {}
  nullable = false

  validation {
    condition     = alltrue([for name in keys(var.sizes) : contains(keys(local.function_table), name)])
    error_message = "No functions: ${join(", ", [for name in keys(var.sizes) : name if !contains(keys(local.function_table), name)])}. There are ${join(", ", keys(local.function_table))}."
  }

  validation {
    condition     = alltrue([for size in values(var.sizes) : size.memory == null || can(regex("^[1-9][0-9]*(M|Mi|G|Gi)$", size.memory))])
    error_message = "Not sizes of memory: ${join("; ", [for name, size in var.sizes : "${size.memory} of ${name}" if size.memory != null && !can(regex("^[1-9][0-9]*(M|Mi|G|Gi)$", size.memory))])}. Give a whole number and its unit, such as 512Mi or 2Gi."
  }

  # Cloud Run itself would say so only in the middle of an apply.
  validation {
    condition = alltrue([
      for bytes in [for size in values(var.sizes) : try(local.memory_units[regex("[A-Za-z]+$", size.memory)] * regex("^[0-9]+", size.memory), 536870912)] : bytes >= 536870912 && bytes <= 4294967296
    ])
    error_message = "Too little memory, or too much: ${join("; ", [
      for name, size in var.sizes : "${size.memory} of ${name}" if try(local.memory_units[regex("[A-Za-z]+$", size.memory)] * regex("^[0-9]+", size.memory) < 536870912, false) || try(local.memory_units[regex("[A-Za-z]+$", size.memory)] * regex("^[0-9]+", size.memory) > 4294967296, false)
    ])}. Give 512Mi at least (the second generation of Cloud Run has no less) and 4Gi at most (with one CPU there is no more)."
  }

  validation {
    condition = alltrue([
      for size in values(var.sizes) : contains(range(0, 1001), coalesce(size.min_instances, 0)) && contains(range(1, 1001), coalesce(size.max_instances, 1)) && contains(range(1, 1001), coalesce(size.concurrency, 1))
    ])
    error_message = "min_instances is a whole number from 0 to 1000, max_instances and concurrency are whole numbers from 1 to 1000."
  }

  validation {
    condition = alltrue([
      for name, size in var.sizes : coalesce(size.min_instances, 0) <= coalesce(size.max_instances, try(local.function_table[name].max, 1000))
    ])
    error_message = "More instances are kept than there may be of ${join(", ", [
      for name, size in var.sizes : "${name} (at most ${coalesce(size.max_instances, try(local.function_table[name].max, 1000))})" if coalesce(size.min_instances, 0) > coalesce(size.max_instances, try(local.function_table[name].max, 1000))
    ])}. Lower min_instances, or give a higher max_instances with it; the reasons for those that are set stand in function-table.tf."
  }
}

variable "pools" {
  description = "Pools of projects that are prepared before anybody asks for one. `size` projects wait in each, and none longer than `maxAge` (default 7d). Default: none."
  type = list(object({
    parent         = string
    billingAccount = string
    region         = string
    size           = number
    maxAge         = optional(string)
  }))
  default  = []
  nullable = false

  validation {
    condition     = alltrue([for pool in var.pools : contains(var.parents, pool.parent) && contains(var.billing_accounts, pool.billingAccount)])
    error_message = "These pools have a parent that is not among parents, or a billing account that is not among billing_accounts: ${join(", ", [for index, pool in var.pools : "pools[${index}]" if !(contains(var.parents, pool.parent) && contains(var.billing_accounts, pool.billingAccount))])}."
  }
  validation {
    condition     = alltrue([for pool in var.pools : can(regex("^[a-z]+(-[a-z]+)+[0-9]+$", pool.region)) && can(regex("^[1-9][0-9]{0,2}$", pool.size)) && pool.size <= 200 && (pool.maxAge == null || can(regex("^([0-9]+[dhm])+$", pool.maxAge)))])
    error_message = "A pool has a region such as europe-west4, a size from 1 to 200, and perhaps a maxAge such as 7d. Not so: ${join(", ", [for index, pool in var.pools : "pools[${index}]" if !(can(regex("^[a-z]+(-[a-z]+)+[0-9]+$", pool.region)) && can(regex("^[1-9][0-9]{0,2}$", pool.size)) && try(pool.size <= 200, false) && (pool.maxAge == null || can(regex("^([0-9]+[dhm])+$", pool.maxAge))))])}."
  }
}

variable "ceilings" {
  description = "What bootstraps may cost in USD by their estimate: one of them in an hour, those of one owner and all of them in a calendar month. Default: no ceiling."
  type = object({
    hour        = optional(number)
    owner_month = optional(number)
    month       = optional(number)
  })
  default  = {}
  nullable = false

  validation {
    condition     = alltrue([for amount in values(var.ceilings) : amount == null || can(regex("^[0-9]{1,9}([.][0-9]{1,6})?$", amount)) && try(amount > 0, false)])
    error_message = "Not amounts above 0 with at most six decimals: ${join(", ", [for name, amount in var.ceilings : "${name} = ${amount}" if amount != null && !(can(regex("^[0-9]{1,9}([.][0-9]{1,6})?$", amount)) && try(amount > 0, false))])}."
  }
}

variable "beyond_ceiling" {
  description = "What happens to a bootstrap that comes to cost more than a ceiling allows. \"warn\": its owner is warned. \"stop\": its VMs are stopped, too, until the ceiling is raised."
  type        = string
  default     = "warn"
  nullable    = false

  validation {
    condition     = contains(["warn", "stop"], var.beyond_ceiling)
    error_message = "It is \"${var.beyond_ceiling}\", and must be \"warn\" or \"stop\"."
  }
}

variable "traces" {
  description = "Sends the traces of the functions to Cloud Trace. A collector elsewhere: the setting OTEL_EXPORTER_OTLP_ENDPOINT."
  type        = bool
  default     = false
  nullable    = false
}

variable "firestore_location" {
  description = "Where the documents are: a region or multi-region such as eur3. Default: the region. It can't be changed."
  type        = string
  default     = null

  validation {
    condition     = var.firestore_location == null || can(regex("^([a-z]+-[a-z]+[0-9]+|[a-z]+[0-9]+)$", var.firestore_location))
    error_message = "A location is a region such as europe-west4, or a multi-region such as eur3 or nam5."
  }
}

variable "deletion_protection" {
  description = "Keeps the database and the buckets from being destroyed. Turn it off only to take a trial deployment down."
  type        = bool
  default     = true
  nullable    = false
}

variable "alert_emails" {
  description = "Who hears of alerts. Empty: alerts show in the console alone."
  type        = set(string)
  default     = []
  nullable    = false

  validation {
    condition     = alltrue([for email in var.alert_emails : can(regex(local.forms.email, email))])
    error_message = "Not e-mail addresses: ${join("; ", [for email in var.alert_emails : email if !can(regex(local.forms.email, email))])}. Give each by itself as name@example.com."
  }
}

variable "budget" {
  description = "Monthly budgets, in whole units of the billing account's currency: plinth's own project, and everything beneath the parents. Whoever applies this needs roles/billing.costsManager on the account. null: none."
  type = object({
    billing_account = string
    own             = number
    bootstraps      = number
  })
  default = null

  validation {
    condition     = var.budget == null ? true : var.budget.own >= 1 && var.budget.bootstraps >= 1 && floor(var.budget.own) == var.budget.own && floor(var.budget.bootstraps) == var.budget.bootstraps
    error_message = "Amounts are whole numbers, at least 1."
  }

  validation {
    condition     = var.budget == null ? true : can(regex(local.forms.billing_account, var.budget.billing_account))
    error_message = "The budget's billing account is written as 0123AB-4567CD-89EF01."
  }
}

variable "package_deletion_days" {
  description = "Days after which an installer package in the bucket is removed. 0: never."
  type        = number
  default     = 0
  nullable    = false

  validation {
    condition     = var.package_deletion_days >= 0 && floor(var.package_deletion_days) == var.package_deletion_days
    error_message = "Give a whole number of days, or 0."
  }
}
